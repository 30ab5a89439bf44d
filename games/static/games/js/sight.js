/* What one seat sees, kept up to date by what the page is told (PROTOCOL.md, "See"), and what its own hand is doing
   before the server has said so. */

const lieBack = (tile, face, loot) => {
  tile.lies = face;
  delete tile.loot;
  if (loot) tile.loot = loot;
};
const without = (list, one) => list.splice(list.indexOf(one), 1);

/** Puts one event into a sight. */
export function happen(sight, event, cards) {
  Object.assign(sight, { seq: event.seq, at: event.at });
  const player = sight.players[event.seat];
  const tile = sight.tiles[event.tile];
  switch (event.type) {
    case "ready":
      player.ready = event.on;
      break;
    case "lifted":
      lieBack(tile, "hand", event.loot);
      Object.assign(player, { hand: event.tile, lifted_at: event.at });
      break;
    case "stashed":
      lieBack(tile, "board", event.loot);
      Object.assign(player, { hand: null, lifted_at: null });
      player.board.push(event.tile);
      break;
    case "returned":
      lieBack(tile, event.face, event.loot);
      if (event.source === "board") without(player.board, event.tile);
      else Object.assign(player, { hand: null, lifted_at: null });
      if (event.by === "clock") player.let_go = [...player.let_go, event.tile].sort((a, b) => a - b);
      break;
    case "escaped":
      player.token = event.token;
      break;
    case "bought": {
      const market = sight.markets[event.market];
      for (const paid of event.paid) {
        lieBack(sight.tiles[paid], "down");
        without(player.board, paid);
      }
      if ("art" in event) {
        market.art[event.art] = null;
        player.art.push(...event.got);
      } else {
        market.cards[event.cards] = [];
        for (const card of event.got) {
          if (cards.get(card).kind === "unique") player.face_down += 1;
          else player.collections.push({ card, filled: 0 });
        }
      }
      break;
    }
    case "bag_opened":
      lieBack(tile, "down");
      without(player.board, event.tile);
      if (event.got) {
        player.art.push(event.got);
        sight.bag -= 1;
      }
      break;
    case "placed": {
      const held = player.collections.find(({ card }) => card === event.card);
      without(player.art, event.art);
      held.filled += 1;
      if (held.filled === cards.get(event.card).needs.length) {
        without(player.collections, held);
        player.face_down += 1;
      }
    }
  }
}

/** Does to a sight what one's own command will do if it is accepted; loot that nobody told us stays unknown. */
function foresee(sight, { do: word, tile: spot, face, on }) {
  const own = sight.players[sight.seat];
  const tile = sight.tiles[spot];
  const { loot } = tile ?? {};
  switch (word) {
    case "ready":
      own.ready = on;
      break;
    case "lift":
      if (tile.lies !== "up" && tile.lies !== "down") break;
      tile.lies = "hand";
      Object.assign(own, { hand: spot, lifted_at: null });
      break;
    case "stash":
      if (own.hand !== spot) break;
      tile.lies = "board";
      own.hand = null;
      own.board.push(spot);
      break;
    case "return":
      if (own.hand === spot) own.hand = null;
      else if (own.board.includes(spot)) without(own.board, spot);
      else break;
      lieBack(tile, face, face === "up" ? loot : undefined);
      break;
    case "escape":
      own.escaping = true;
  }
}

export class Picture {
  sight = null;
  head = 0;
  cards = new Map();
  edition = null;
  waiting = new Map();
  #drawn = null;

  meet(edition) {
    this.edition = edition;
    this.cards = new Map(edition.cards.map((card) => [card.id, card]));
  }

  /** Puts a message into the picture; false where something is missing before it. */
  take(message) {
    this.#drawn = null;
    if (message.type === "sight") {
      this.sight = message.sight;
      this.head = message.head;
      return true;
    }
    for (const event of message.events) {
      if (event.seq <= this.head) continue;
      if (event.seq > this.head + 1 || !this.sight) return false;
      happen(this.sight, event, this.cards);
      this.head = event.seq;
    }
    if (message.sight) this.sight = message.sight;
    else if (message.now) {
      const { own, ...now } = message.now;
      Object.assign(this.sight, now);
      if (own) Object.assign(this.sight.players[this.sight.seat], own);
    }
    return true;
  }

  /** One's own hand moves at once; `settle` says that the server has answered. */
  ask(command) {
    this.waiting.set(command.id, command);
    this.#drawn = null;
  }

  settle(id) {
    const command = this.waiting.get(id);
    this.waiting.delete(id);
    this.#drawn = null;
    return command;
  }

  /** None of it will be answered. */
  forget() {
    this.waiting.clear();
    this.#drawn = null;
  }

  /** What is to be drawn: the sight, and on top of it what one's own hand is doing. */
  get now() {
    if (!this.waiting.size || !this.sight) return this.sight;
    if (!this.#drawn) {
      this.#drawn = structuredClone(this.sight);
      for (const command of this.waiting.values()) foresee(this.#drawn, command);
    }
    return this.#drawn;
  }
}
