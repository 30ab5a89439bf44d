/* A finished game at any of its moments, from its record alone (games/rules/RECORD.md), as anybody saw it: the same sights
   that the server showed while it ran (games/rules/sight.py). */

import { happen } from "./sight.js";

export const ALL = "all";
const KEY_FRAME_EVERY = 32;
const SILVER = new Set(["manuscript", "chalice", "statuette"]);
const EMPTY_COLLECTION = 2;
const UNIQUE = 3;

/** What an event does to a game beyond what every page makes of it. */
const BESIDES = {
  round_started(game, { at, round, tiles, markets, bag, deck }) {
    Object.assign(game, { phase: "gathering", round, bag, deck, turn: null, limit: at + game.limits.ready_ms });
    game.markets = structuredClone(markets);
    game.tiles = tiles.map(([place]) => ({ place, lies: "down" }));
    game.loot = tiles.map(([, loot]) => loot);
    for (const player of game.players) {
      Object.assign(player, { ready: false, hand: null, lifted_at: null, board: [], let_go: [], token: null, pressed: 0 });
    }
  },
  ready(game, { seat, on }) {
    if (on) game.players[seat].pressed += 1;
  },
  countdown_started(game, { at }) {
    Object.assign(game, { phase: "countdown", limit: at + game.limits.countdown_ms });
  },
  search_started(game, { at }) {
    Object.assign(game, { phase: "search", limit: at + game.limits.search_ms });
  },
  exchange_started(game, { at, order }) {
    Object.assign(game, { phase: "exchange", order, tour: 1, turn: order[0], traded: false, short: false });
    Object.assign(game, { limit: at + game.limits.turn_ms, resumes_at: 0 });
  },
  bought(game, { seat, got, at, ...slot }, cards) {
    if ("cards" in slot) game.players[seat].hidden.push(...got.filter((card) => cards.get(card).kind === "unique"));
    turnOn(game, seat, at, true);
  },
  bag_opened(game, { seat, at, got }) {
    if (!got) game.short = true;
    turnOn(game, seat, at, true);
  },
  placed(game, { seat, card }) {
    const player = game.players[seat];
    if (!player.collections.some((held) => held.card === card)) player.hidden.push(card);
  },
  passed(game, { seat, at }) {
    turnOn(game, seat, at, false);
  },
  abandoned(game, { seat }) {
    game.players[seat].left = true;
    game.leavers.push(seat);
  },
  resumed(game, { at, lost_ms }) {
    const { countdown_ms } = game.limits;
    if (game.phase === "countdown") game.limit = at + countdown_ms;
    else if (game.phase === "search") {
      game.limit += lost_ms + countdown_ms;
      game.resumes_at = at + countdown_ms;
      for (const player of game.players) if (player.hand !== null) player.lifted_at += lost_ms + countdown_ms;
    } else game.limit += lost_ms;
  },
  game_ended(game) {
    Object.assign(game, { phase: "over", turn: null });
  },
};

/** The turn goes on; a tour without a trade was the last one (R5.1). */
function turnOn(game, seat, at, traded) {
  const next = game.order.indexOf(seat) + 1;
  game.limit = at + game.limits.turn_ms;
  game.traded ||= traded;
  if (next < game.order.length) game.turn = game.order[next];
  else if (game.traded) Object.assign(game, { traded: false, turn: game.order[0], tour: game.tour + 1 });
  else game.turn = null;
}

export class Past {
  #record;
  #cards;
  #frames = [];

  constructor(record) {
    this.#record = record;
    this.#cards = new Map(record.edition.cards.map((card) => [card.id, card]));
    const game = this.#before();
    for (const event of record.events) {
      if (game.seq % KEY_FRAME_EVERY === 0) this.#frames.push(structuredClone(game));
      this.#fold(game, event);
    }
  }

  /** The table after this event as a seat saw it, or whoever watched (null), or with all open (ALL). */
  sight(seq, as) {
    const { loot, ...game } = this.#game(seq);
    const all = as === ALL;
    const hand = game.players[as]?.hand ?? null;
    game.seat = all ? null : as;
    game.tiles = game.tiles.map(({ place, lies }, spot) =>
      all || lies === "up" || lies === "board" || spot === hand ? { place, lies, loot: loot[spot] } : { place, lies },
    );
    const most = game.limits.readies;
    game.players = game.players.map(({ hidden, pressed, ...player }) => {
      if (!all && player.seat !== as) return player;
      const readies = most === undefined ? null : most - pressed;
      return { ...player, hidden: hidden.toSorted(), points: this.#points(player, hidden), readies };
    });
    if (game.phase === "over") game.reveal = this.#record.reveal;
    return game;
  }

  #game(seq) {
    const frame = Math.floor((seq - 1) / KEY_FRAME_EVERY);
    const game = structuredClone(this.#frames[frame]);
    for (const event of this.#record.events.slice(game.seq, seq)) this.#fold(game, event);
    return game;
  }

  #fold(game, event) {
    happen(game, event, this.#cards);
    BESIDES[event.type]?.(game, event, this.#cards);
  }

  /** The game before its first event. */
  #before() {
    const { rulebook, pace, ranked, limits, edition, commitment, seats } = this.#record;
    return {
      ...{ seq: 0, at: 0, rulebook, pace, ranked, limits, edition: edition.name, commitment },
      ...{ phase: "setup", limit: 0, resumes_at: 0, order: [], tour: 0, turn: null, traded: false, short: false },
      ...{ round: 0, tiles: [], loot: [], markets: [], bag: 0, deck: 0, leavers: [] },
      players: seats.map(({ seat, kind, character }) => ({
        ...{ seat, kind, character, ready: false, hand: null, lifted_at: null, board: [], let_go: [], token: null },
        ...{ art: [], collections: [], face_down: 0, left: false, hidden: [], pressed: 0 },
      })),
    };
  }

  /** What a player has by now (R7.3). */
  #points({ seat, art, collections }, hidden) {
    const silver = art.filter((kind) => SILVER.has(kind)).length;
    const gold = 2 * (art.length - silver);
    const known = hidden.map((id) => this.#cards.get(id));
    const uniques = UNIQUE * known.filter(({ kind }) => kind === "unique").length;
    const complete = known.map(({ kind, worth }) => (kind === "unique" ? 0 : worth.at(-1)));
    const open = collections.map(({ card, filled }) => (filled ? this.#cards.get(card).worth[filled - 1] : EMPTY_COLLECTION));
    const worth = [...complete, ...open].reduce((sum, one) => sum + one, 0);
    return { seat, silver, gold, uniques, collections: worth, total: silver + gold + uniques + worth };
  }
}
