/* The search: 54 tiles, one's own hand and board, the other hands. It draws what it is given and asks; it never decides. */

import { token } from "./moment.js";
import { play } from "./sounds.js";
import { isBarred, KEYS, missingKey, searching, SLOTS, Tiles } from "./tiles.js";
import { back, flag, front, make, piece, say, write } from "./words.js";

const SAID_MS = 4000;
const AGAIN_MS = 30;
// The hand's clock warns when a tile is about to go back.
const HURRY_MS = 3000;
const ARROWS = { ArrowLeft: () => -1, ArrowRight: () => 1, ArrowUp: (columns) => -columns, ArrowDown: (columns) => columns };

const find = (id) => document.getElementById(id);
const unspoken = (part) => Object.assign(part, { ariaHidden: "true" });

/** Somebody's name as `shown`, spoken as `words`, and the way to report them. */
function named(seat, words, shown) {
  const link = flag(seat);
  if (!link) return [make("span", "visually-hidden", words), unspoken(make("span", "name", shown))];
  link.className = "name";
  link.ariaLabel = `${words} (${link.ariaLabel})`;
  link.replaceChildren(shown);
  return [link];
}

export class Search {
  #tiles = find("tiles");
  #board = find("board");
  #refusal = find("refusal");
  #acts = { stash: find("stash"), down: find("down"), up: find("up"), escape: find("escape") };
  #spread;
  #sight = null;
  #own = null;
  #picked = null;
  #wanted = null;
  #timer = 0;

  /** `ask(command)` sends, or is false; `now()` is the game's clock; `name(seat)` what somebody is called. */
  constructor({ ask, now, name }) {
    Object.assign(this, { ask, now, name });
    this.#spread = new Tiles(this.#tiles, name);
    this.#tiles.addEventListener("click", ({ target }) => {
      const spot = this.#spread.spots.indexOf(target.closest("button"));
      if (spot >= 0) this.#lift(spot);
    });
    this.#tiles.addEventListener("focusin", ({ target }) => this.#rove(this.#spread.spots.indexOf(target)));
    this.#board.addEventListener("click", ({ target }) => {
      const slot = target.closest("button");
      if (slot) this.#pick(Number(slot.dataset.tile));
    });
    for (const [word, button] of Object.entries(this.#acts)) button.addEventListener("click", () => this.#act(word));
    document.addEventListener("keydown", (event) => this.#press(event));
    addEventListener("resize", () => this.draw(this.#sight, this.#own));
  }

  /** Whether one may move one's hand now. */
  get #searching() {
    return searching(this.#sight, this.#own);
  }

  draw(sight, own) {
    if (!sight) return;
    this.#sight = sight;
    this.#own = own;
    find("search").classList.toggle("watching", !own);
    find("search").classList.toggle("done", Boolean(own && (own.token !== null || own.left || own.escaping)));
    this.#spread.draw(sight, own);
    if (own && (own.hand !== null || !own.board.includes(this.#picked))) this.#picked = null;
    this.#drawHand();
    this.#drawBoard();
    this.#drawOthers();
    this.#drawPrices();
    this.#go();
  }

  #drawHand() {
    const hand = find("hand");
    const spot = this.#own?.hand ?? this.#picked;
    const tile = spot === null || spot === undefined ? null : this.#sight.tiles[spot];
    const held = tile && this.#own.hand !== null;
    const words = this.#handWords(tile, held);
    const shown = `${tile ? spot : ""} ${words}`;
    if (hand.dataset.shows !== shown) {
      hand.dataset.shows = shown;
      hand.className = `palm ${held ? "holding" : ""} ${this.#own?.character ?? ""}`;
      const picture = tile?.loot ? back(tile.place, tile.loot) : tile ? front(tile.place) : piece("hand", "hand");
      const seconds = held ? [unspoken(make("span", "hand-clock"))] : [];
      hand.replaceChildren(...(this.#own ? [picture] : []), make("span", "name", words), ...seconds);
    }
    this.drawHandClock();
    const acting = this.#searching && tile;
    this.#acts.stash.ariaDisabled = !(acting && this.#own.hand !== null && !this.#whyNotStash());
    this.#acts.down.ariaDisabled = this.#acts.up.ariaDisabled = !acting;
    this.#acts.up.hidden = this.#sight.rulebook === "es";
    // The way out lies where the other acts are: they are of no use then, unless a stashed tile is picked.
    const out = this.#mayEscape && this.#picked === null;
    this.#acts.escape.hidden = !out;
    find("search").classList.toggle("may-escape", out);
  }

  /** How long the hand may still hold its tile (R8.3): a number for everybody, and a bar that moves or stands by it. */
  drawHandClock() {
    const hand = find("hand");
    const seconds = hand.querySelector(".hand-clock");
    if (!seconds || this.#own?.hand === null) return;
    const { hand_ms } = this.#sight.limits;
    const held = Math.max(0, this.now() - (this.#own.lifted_at ?? this.now()));
    const left = Math.max(0, hand_ms - held);
    write(seconds, String(Math.ceil(left / 1000)));
    hand.style.setProperty("--hand-left", String(left / hand_ms));
    hand.classList.toggle("hurry", left <= HURRY_MS);
  }

  #handWords(tile, held) {
    if (!this.#own) return say("watching");
    if (this.#own.left) return say("you-left");
    if (this.#own.token !== null) return say("you-escaped");
    if (this.#own.escaping) return say("escaping");
    if (!tile) return say("hand-free");
    if (!tile.loot) return say("looking");
    return say(held ? "in-hand" : "picked", { loot: say(tile.loot) });
  }

  get #mayEscape() {
    return Boolean(this.#searching && this.#own.hand === null && this.#own.board.length === SLOTS);
  }

  #whyNotStash() {
    const { loot } = this.#sight.tiles[this.#own.hand];
    const kept = this.#own.board.map((spot) => this.#sight.tiles[spot].loot);
    if (kept.length === SLOTS) return "board-full";
    return Object.values(KEYS).includes(loot) && kept.includes(loot) ? "second-key" : null;
  }

  #drawBoard() {
    const board = this.#own?.board ?? [];
    const shown = [...board, this.#picked, this.#searching].join();
    if (this.#board.dataset.shows === shown) return;
    const focused = document.activeElement?.dataset?.tile;
    this.#board.dataset.shows = shown;
    this.#board.replaceChildren(
      ...Array.from({ length: SLOTS }, (_, slot) => {
        const spot = board[slot];
        if (spot === undefined) return make("li", "slot", make("span", "visually-hidden", say("free-slot")));
        const { place, loot } = this.#sight.tiles[spot];
        const key = Object.values(KEYS).includes(loot);
        const button = make("button", `stashed${key ? " key" : ""}`, loot ? back(place, loot) : front(place));
        Object.assign(button, { type: "button", ariaLabel: say(key ? "stashed-key" : "stashed", { loot: loot ? say(loot) : "" }) });
        button.ariaPressed = spot === this.#picked;
        button.dataset.tile = spot;
        return make("li", "slot", button);
      }),
    );
    this.#board.querySelector(`[data-tile="${focused}"]`)?.focus();
  }

  #drawOthers() {
    const list = find("others");
    const others = this.#sight.players.filter((player) => player !== this.#own);
    const shown = JSON.stringify(others.map(({ seat, board, token, left, hand }) => [this.name(seat), board, token, left, hand]));
    if (list.dataset.shows === shown) return;
    list.dataset.shows = shown;
    list.replaceChildren(
      ...others.map(({ seat, character, board, token, left, hand }) => {
        const name = this.name(seat);
        const few = !left && !token;
        const words = left ? say("away", { name }) : token ? say("out", { name }) : say("count", { name, number: board.length });
        const loot = board.map((spot) => piece("loot", `loot-${this.#sight.tiles[spot].loot}`));
        return make(
          "li",
          `${character}${hand === null ? "" : " reaching"}${token || left ? " out" : ""}`,
          piece("character", `character-${character}`),
          ...named(seat, words, few ? name : words),
          unspoken(make("span", "few", token ? piece("token", "token", `token-${token}`) : left ? "✕" : `${board.length}/${SLOTS}`)),
          make("span", "loots", ...loot),
        );
      }),
    );
  }

  /** What the markets ask for and still have: whoever searches may look at them at any time. */
  #drawPrices() {
    const list = find("prices");
    const { markets, round } = this.#sight;
    if (!this.costs || list.dataset.shows === String(round)) return;
    list.dataset.shows = round;
    list.replaceChildren(
      ...markets.map(({ face, art, cards }) => {
        const cost = this.costs.get(face);
        const kinds = art.filter(Boolean);
        const number = say("cards", { number: cards.flat().length });
        const price = cost.map((loot) => say(loot)).join(" + ");
        const goods = [...kinds.map((kind) => say(`art-${kind}`)), number].join(", ");
        return make(
          "li",
          "",
          ...cost.map((loot) => piece("loot", `loot-${loot}`)),
          unspoken(make("span", "arrow", "→")),
          ...kinds.map(token),
          unspoken(make("span", "more", number)),
          make("span", "visually-hidden", say("market", { face, price, goods })),
        );
      }),
    );
  }

  #rove(spot) {
    if (spot < 0) return;
    for (const tile of this.#spread.spots) tile.tabIndex = -1;
    this.#spread.spots[spot].tabIndex = 0;
  }

  #press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.#sight?.phase !== "search") return;
    if (event.target.closest?.("input, select, textarea, dialog")) return;
    const arrow = ARROWS[event.key];
    if (arrow) {
      const at = Math.max(0, this.#spread.spots.findIndex((tile) => tile.tabIndex === 0));
      const to = this.#spread.spots.includes(document.activeElement) ? at + arrow(this.#spread.columns) : at;
      this.#spread.spots[to]?.focus();
      event.preventDefault();
      return;
    }
    const word = { s: "stash", d: "down", u: "up", e: "escape" }[event.key.toLowerCase()];
    if (word && !event.repeat) this.#act(word);
    const slot = this.#own?.board[Number(event.key) - 1];
    if (slot !== undefined) this.#pick(slot);
  }

  #lift(spot) {
    if (!this.#searching || spot === this.#own.hand) return;
    const { place, lies } = this.#sight.tiles[spot];
    if (lies === "board") return;
    const key = missingKey(this.#sight, this.#own, place);
    if (lies === "hand") this.refuse(say("taken"), spot);
    else if (isBarred(this.#own, spot)) this.refuse(say("barred-why"), spot);
    else if (this.#own.hand !== null) this.refuse(say("hand-full"), spot);
    else if (key) this.refuse(say(`need-${key}`), spot);
    else {
      this.hush();
      if (!this.ask({ do: "lift", tile: spot })) return;
      play("lift");
      navigator.vibrate?.(12);
    }
  }

  #pick(spot) {
    if (!this.#searching || this.#own.hand !== null) return;
    const { loot } = this.#sight.tiles[spot];
    if (Object.values(KEYS).includes(loot)) this.refuse(say("stashed-key", { loot: say(loot) }));
    else this.#picked = this.#picked === spot ? null : spot;
    this.draw(this.#sight, this.#own);
  }

  #act(word) {
    if (!this.#searching) return;
    if (word === "escape") {
      if (this.#mayEscape) this.ask({ do: "escape" });
      return;
    }
    const spot = this.#own.hand ?? this.#picked;
    if (spot === null || (word === "up" && this.#acts.up.hidden)) return;
    if (word === "stash") {
      if (this.#own.hand === null) return;
      const why = this.#whyNotStash();
      if (why) return this.refuse(say(why));
    }
    const command = word === "stash" ? { do: "stash", tile: spot } : { do: "return", tile: spot, face: word };
    this.hush();
    play(word === "stash" ? "stash" : "back");
    if (this.#own.hand === null) {
      this.#picked = null;
      this.ask(command);
      return;
    }
    this.#wanted = command;
    this.#go();
  }

  /** Does what is wanted of the tile in the hand as soon as it has turned over (R8.3). */
  #go() {
    clearTimeout(this.#timer);
    if (!this.#wanted) return;
    if (!this.#searching || this.#own.hand !== this.#wanted.tile) {
      this.#wanted = null;
      return;
    }
    find("hand").classList.toggle("hasty", true);
    // Not yet acknowledged: the draw that follows the answer comes back here.
    if (this.#own.lifted_at === null) return;
    const wait = this.#own.lifted_at + this.#sight.limits.hold_ms - this.now();
    if (wait > 0) {
      this.#timer = setTimeout(() => this.#go(), wait + 1);
      return;
    }
    const command = this.#wanted;
    this.#wanted = null;
    this.ask({ do: command.do, tile: command.tile, ...(command.face && { face: command.face }) });
  }

  /** Tries once more what came a moment too early: the two clocks are not quite the same. */
  again(command) {
    setTimeout(() => {
      this.#wanted ??= command;
      this.#go();
    }, AGAIN_MS);
  }

  /** Says why not, beside the tile that it is about. */
  refuse(sentence, spot = null) {
    const tile = spot === null ? null : this.#spread.spots[spot];
    play("refused");
    this.#refusal.hidden = false;
    this.#refusal.replaceChildren(make("span", "", sentence));
    const top = tile ? tile.offsetTop + tile.offsetHeight : this.#tiles.offsetHeight;
    this.#refusal.style.translate = `0 ${Math.min(top, this.#tiles.offsetHeight - this.#refusal.offsetHeight)}px`;
    tile?.animate?.([{ translate: "-3px" }, { translate: "3px" }, { translate: "0" }], { duration: this.#still ? 0 : 150 });
    navigator.vibrate?.([20, 40, 20]);
    clearTimeout(this.saying);
    this.saying = setTimeout(() => this.hush(), SAID_MS);
  }

  get #still() {
    return document.documentElement.dataset.motion === "reduced" || matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  hush() {
    this.#refusal.hidden = true;
  }
}
