/* Boards, markets and piles of a replay: laid out by the templates of the live game, filled here with copies of the
   pieces that came with the page. */

import { make, say, write } from "./words.js";

const stock = new Map(
  [...document.getElementById("stock").content.children].map((one) => [one.value, one.firstElementChild]),
);
const copy = (key) => stock.get(key).cloneNode(true);

/** Fills a part of the page, if it is to show something else than it does. */
function fill(part, shown, pieces) {
  const key = JSON.stringify(shown);
  if (part.dataset.shows === key) return;
  part.dataset.shows = key;
  part.replaceChildren(...pieces());
}

const counted = (picture, number) => {
  const item = make("li", "counted", picture);
  if (number > 1) item.append(make("span", "", `× ${number}`));
  return item;
};

function byKind(tokens) {
  const kinds = new Map();
  for (const kind of tokens) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  return [...kinds];
}

/** One player's board: a hand, six slots, art, cards and points. */
class Identity {
  constructor(section, needs) {
    this.section = section;
    this.needs = needs;
    this.slots = [...section.querySelectorAll(".slots > .slot")];
    this.art = make("ul", "held-art");
    this.cards = make("ul", "hand-of-cards");
    this.token = make("span", "taken-token");
    this.hand = make("span", "hand-slot slot");
    this.place = make("span", "place");
    this.total = make("span", "badge brass");
    section.querySelector(".top").append(this.place, this.total, this.token);
    section.querySelector(".slots").before(this.hand);
    section.append(this.art, this.cards);
  }

  draw(sight, player) {
    const { seat, character, hand, board, token, art, collections, face_down, hidden, left, points } = player;
    const mine = seat === sight.seat ? " seen" : "";
    const turn = seat === sight.turn ? " in-turn" : "";
    const rank = sight.reveal?.ranking.indexOf(seat) ?? -1;
    const name = `identity ${character}${mine}${turn}${left ? " left" : ""}${rank === 0 ? " winner" : ""}`;
    if (this.section.className !== name) this.section.className = name;
    const tile = (spot) => {
      const { place, loot } = sight.tiles[spot];
      return loot ? `back-${place}-${loot}` : `front-${place}`;
    };
    const held = hand === null ? null : tile(hand);
    const slots = board.map(tile);
    fill(this.hand, held, () => [held ? copy(held) : copy("hand")]);
    this.hand.classList.toggle("holding", Boolean(held));
    this.slots.forEach((slot, index) => {
      const stashed = slots[index] ?? null;
      fill(slot, stashed, () => [stashed ? copy(stashed) : make("span", "visually-hidden", say("free-slot"))]);
    });
    fill(this.art, art, () => byKind(art).map(([kind, number]) => counted(copy(`art-${kind}`), number)));
    fill(this.cards, [collections, hidden ?? face_down], () => [
      ...collections.map(({ card, filled }) => make("li", "", copy(`card-${card}-${filled}`))),
      ...(hidden ?? []).map((card) => make("li", "face-down", copy(`card-${card}-${this.needs(card)}`))),
      ...(hidden || !face_down ? [] : [counted(copy("card-back"), face_down)]),
    ]);
    fill(this.token, token, () => (token ? [copy(`token-${token}`)] : []));
    write(this.place, rank < 0 ? "" : say("place", { number: rank + 1 }));
    this.total.hidden = !points;
    if (points) write(this.total, `${say("total")} ${points.total}`);
  }
}

/** What a market still sells. */
class Stall {
  constructor(section) {
    this.art = section.querySelector(".wares:not(.cards)");
    this.cards = section.querySelector(".wares.cards");
  }

  draw({ art, cards }, sold) {
    const ware = (name, keys, just) => {
      if (keys.length) return make("li", "", make("span", name, ...keys.map(copy)));
      return make("li", "", make("span", `ware sold${just ? " just" : ""}`, make("span", "visually-hidden", say("sold"))));
    };
    fill(this.art, [art, sold?.art], () => art.map((kind, slot) => ware("ware", kind ? [`art-${kind}`] : [], slot === sold?.art)));
    fill(this.cards, [cards, sold?.cards], () =>
      cards.map((slot, index) => ware(slot.length > 1 ? "ware pair" : "ware", slot.map((id) => `card-${id}-0`), index === sold?.cards)),
    );
  }
}

export class Board {
  constructor(edition) {
    const needs = new Map(edition.cards.map(({ id, needs }) => [id, needs?.length ?? 0]));
    const people = document.querySelectorAll("#people > .identity");
    this.people = [...people].map((section) => new Identity(section, (card) => needs.get(card)));
    this.stalls = [...document.querySelectorAll("#markets > .market")].map((section) => new Stall(section));
    this.bag = document.getElementById("bag");
    this.deck = document.getElementById("deck");
  }

  /** `event` is what happened last: the slot that it emptied stands out. */
  draw(sight, event) {
    sight.players.forEach((player, seat) => this.people[seat].draw(sight, player));
    const sold = event.type === "bought" ? event : null;
    sight.markets.forEach((market, index) => this.stalls[index].draw(market, sold?.market === index ? sold : null));
    write(this.bag, `× ${sight.bag}`);
    write(this.deck, `× ${sight.deck}`);
  }
}
