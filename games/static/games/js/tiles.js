/* The 54 tiles, as a sight has them: of a search that one plays, watches, or sees again. */

import { back, front, grip, make, piece, say } from "./words.js";

export const KEYS = { office: "iron_key", safe: "brass_key" };
const TILES = 54;
export const SLOTS = 6;

/** Whether this player may move a hand now. */
export const searching = (sight, own) =>
  Boolean(sight?.phase === "search" && own && own.token === null && !own.left && !own.escaping);

/** What keeps this player from a place: a key, or nothing. */
export function missingKey(sight, own, place) {
  const key = KEYS[place];
  return key && !own.board.some((spot) => sight.tiles[spot].loot === key) ? key : null;
}

/** Whether the clock took this tile from the player's hand, so that it may not be lifted again in this search (R8.3). */
export const isBarred = (own, spot) => own.let_go.includes(spot);

const button = () => Object.assign(make("button", "tile"), { type: "button", tabIndex: -1 });

export class Tiles {
  spots = [];
  columns = 0;
  #place;
  #drawn = [];
  #within = "";

  /** `name(seat)` is what somebody is called; `tile()` makes what a tile is drawn in, a button where one may lift it. */
  constructor(place, name, tile = button) {
    this.#place = place;
    Object.assign(this, { name, tile });
  }

  draw(sight, own) {
    if (!this.spots.length) this.#lay();
    this.#measure(sight.phase);
    const holders = new Map(sight.players.filter(({ hand }) => hand !== null).map((player) => [player.hand, player]));
    sight.tiles.forEach((tile, spot) => this.#drawTile(sight, own, spot, holders.get(spot)));
  }

  /** How many lie beside each other: asked for seldom, since the browser has to lay everything out to say so. */
  #measure(phase) {
    const within = `${phase} ${innerWidth} ${innerHeight}`;
    if (this.#within === within) return;
    this.#within = within;
    this.columns = getComputedStyle(this.#place).gridTemplateColumns.split(" ").length;
  }

  #lay() {
    this.spots = Array.from({ length: TILES }, this.tile);
    if (this.tile === button) this.spots[0].tabIndex = 0;
    this.#place.replaceChildren(...this.spots);
  }

  #drawTile(sight, own, spot, holder) {
    const { place, lies, loot } = sight.tiles[spot];
    const mine = holder && holder === own;
    const free = searching(sight, own) && (lies === "down" || lies === "up");
    const key = free ? missingKey(sight, own, place) : null;
    const barred = free && isBarred(own, spot);
    const character = holder?.character ?? "";
    const state = [place, lies, loot, character, key, barred, mine, this.columns].join(" ");
    if (this.#drawn[spot] === state) return;
    this.#drawn[spot] = state;
    const tile = this.spots[spot];
    tile.className = `tile ${place} ${lies} ${character}${mine ? " own" : ""}${key ? " locked" : ""}${barred ? " barred" : ""}`;
    const shows = (kind) => tile.querySelector(`:scope > .${kind}`)?.dataset.shows;
    if (shows("front") !== place) tile.replaceChildren(front(place));
    tile.querySelector(".front").dataset.shows = place;
    const known = lies === "up" || mine ? loot : undefined;
    if (shows("back") !== known) {
      tile.querySelector(":scope > .back")?.remove();
      if (known) {
        const picture = back(place, known);
        picture.dataset.shows = known;
        tile.append(picture);
      }
    }
    for (const one of tile.querySelectorAll(":scope > :is(.lock, .grip, .peek)")) one.remove();
    if (key) tile.append(piece("lock", "lock"));
    if (holder && !mine) tile.append(grip(character));
    // Where all lies open: what nobody could see.
    if (loot && !known && lies !== "board") tile.append(piece("peek", `loot-${loot}`));
    tile.ariaLabel = this.#describe({ place, lies, loot }, spot, { holder, mine, key, barred });
  }

  #describe({ place, lies, loot }, spot, { holder, mine, key, barred }) {
    const words = { place: say(place), loot: loot && say(loot), name: holder && this.name(holder.seat) };
    const kind = lies === "hand" ? (mine && loot ? "mine" : "held") : lies === "board" ? "gone" : lies;
    const named = say(kind, words);
    const tile = key ? say("locked", { tile: named }) : barred ? say("barred", { tile: named }) : named;
    return say("spot", { tile, row: Math.floor(spot / this.columns) + 1, column: (spot % this.columns) + 1 });
  }
}
