/* "Check it yourself": every shuffle of a finished game, done again here from the revealed seed (games/rules/RECORD.md,
   "Chance"), and compared with what this browser kept, with the record, and with a file of the public list. */

import { bytes, digestOf, hashOf } from "./hashing.js";

const PLACES = [
  ["garage", { jewels: 4, cash: 4, bag: 2, iron_key: 4, drawer: 4 }],
  ["office", { jewels: 4, cash: 4, bag: 2, brass_key: 4, gems: 4 }],
  ["safe", { jewels: 4, cash: 4, bag: 2, gems: 4, gold: 4 }],
];

const repeat = (rows) => rows.flatMap(([one, number]) => Array(number).fill(one));
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

const BOARDS = "1234";
const FACES = "AB";

/** The numbers of a stream: eight to a block. */
async function* numbers(key, label) {
  for (let block = 0; ; block += 1) {
    const view = new DataView(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(`${label}:${block}`)));
    for (let at = 0; at < 32; at += 4) yield view.getUint32(at);
  }
}

async function below(stream, k) {
  const most = 2 ** 32 - (2 ** 32 % k);
  for (;;) {
    const { value } = await stream.next();
    if (value < most) return value % k;
  }
}

async function shuffled(stream, items) {
  const list = [...items];
  for (let i = list.length - 1; i > 0; i -= 1) {
    const j = await below(stream, i + 1);
    [list[i], list[j]] = [list[j], list[i]];
  }
  return list;
}

const shuffle = (key, label, items) => shuffled(numbers(key, label), items);

async function drawMarkets(key, players) {
  const stream = numbers(key, "markets");
  const faces = [];
  for (const board of (await shuffled(stream, BOARDS)).slice(0, players)) faces.push(board + FACES[await below(stream, 2)]);
  return faces;
}

/** All art and all cards that a game took from the bag and the deck, in the order in which it did. */
function taken(events) {
  const [art, cards] = [[], []];
  let markets = [];
  for (const event of events) {
    if (event.type === "round_started") {
      event.markets.forEach((market, index) => {
        const left = markets[index];
        art.push(...market.art.filter((_, slot) => !left?.art[slot]));
        cards.push(...market.cards.filter((_, slot) => !left?.cards[slot]).flat());
      });
      markets = event.markets.map((market) => ({ art: [...market.art], cards: [...market.cards] }));
    } else if (event.type === "bought") {
      if ("art" in event) markets[event.market].art[event.art] = null;
      else markets[event.market].cards[event.cards] = null;
    } else if (event.type === "bag_opened" && event.got) art.push(event.got);
  }
  return { art, cards };
}

const HEADING = /^midnight-list\/1 \S+ (\d+) ([0-9a-f]{64})$/;
const LINE = /^(\d+) ([0-9a-f]{64}) ([0-9a-f]{64})$/;

/** The lines of a file of the public list by their numbers; null where one does not follow from those before it. */
export async function readList(text) {
  const [first, ...rest] = text.trimEnd().split("\n");
  const begins = HEADING.exec(first);
  if (!begins) return null;
  let [number, head] = [Number(begins[1]), begins[2]];
  const lines = new Map();
  for (const written of rest) {
    const [, own, digest, after] = LINE.exec(written) ?? [];
    number += 1;
    head = digest && (await hashOf(head + digest));
    if (Number(own) !== number || after !== head) return null;
    lines.set(number, { digest, head });
  }
  return lines;
}

const holds = (name, isTrue) => ({ name, verdict: isTrue ? "holds" : "broken" });
const unsure = (name, why) => ({ name, verdict: "unsure", why });

/** What this browser was shown before the first move against what the record says now. */
async function promises({ commitment, seats, line, ...record }, kept) {
  const shares = seats.map(({ share }) => share ?? null);
  const digest = await digestOf({ ...record, seats, commitment }, shares);
  if (!kept.commitment) return ["shown", "agreed"].map((name) => unsure(name, "fresh"));
  const shown = holds("shown", kept.commitment === commitment);
  if (!("share" in seats[0])) return [shown, unsure("agreed", "old")];
  return [shown, kept.digest ? holds("agreed", kept.digest === digest && same(kept.shares, shares)) : unsure("agreed", "fresh")];
}

/** Whether this browser's own share is part of the chance, as `standing` (share.js) has it where it did not count. */
function ownShare({ seats }, { nonce, seat, moved, taken, opened, share }, mine) {
  if (!nonce || seat === null || seat === undefined) return unsure("nonce", mine === null ? "watched" : "fresh");
  const said = seats[seat];
  if (said.nonce === nonce) return holds("nonce", true);
  if (said.share === share || taken || opened) return moved && said.share !== share ? unsure("nonce", "moved") : holds("nonce", false);
  return unsure("nonce", moved ? "moved" : "late");
}

/** Whether every seat's nonce is the one that it had sealed, or zeros for one that it never opened. */
async function sealed({ seats }) {
  if (!("share" in seats[0])) return unsure("shares", "old");
  const fits = await Promise.all(
    seats.map(async ({ nonce, share }) => (share === null ? /^0+$/.test(nonce) : /^0+$/.test(nonce) || (await hashOf(nonce)) === share)),
  );
  return holds("shares", fits.every(Boolean));
}

/** Whether the game stands in the public list where it says, and where this browser was shown. */
async function listed(record, kept, list) {
  const { line, seats } = record;
  if (!line) return kept.line ? holds("line", false) : unsure("line", "old");
  if (kept.line && (kept.line.number !== line.number || kept.line.head !== line.head)) return holds("line", false);
  if (!list?.has(line.number)) return unsure("line", "list");
  const found = list.get(line.number);
  const digest = await digestOf(record, seats.map(({ share }) => share));
  return holds("line", found.head === line.head && found.digest === digest);
}

/** What was checked: each with its name and whether it `holds`, is `broken`, or this browser is `unsure`, and why.
    `kept` is what this browser kept from before the first move (share.js), empty where it was not there; `list` the lines
    of the public list that it has, null where it has none. */
export async function check({ seat, tiles, reveal }, record, edition, kept, list) {
  const { events, markets, markets_by, commitment } = record;
  const seed = reveal.server_seed;
  const game = bytes(await hashOf(seed + reveal.nonces.join("")));
  const key = await crypto.subtle.importKey("raw", game, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const bag = await shuffle(key, "bag", repeat(edition.art));
  const deck = await shuffle(key, "deck", edition.cards.map(({ id }) => id));
  const house = PLACES.flatMap(([place, rows]) => repeat(Object.entries(rows)).map((loot) => [place, loot]));
  const laid = [];
  const rounds = events.filter(({ type }) => type === "round_started");
  for (const { round } of rounds) laid.push(await shuffle(key, `tiles/${round}`, house));
  const { art, cards } = taken(events);
  const shown = tiles.map(({ place }, spot) => [place, reveal.loot[spot]]);
  const told = same(record.seats.map(({ nonce }) => nonce), reveal.nonces) && record.server_seed === seed;
  return [
    holds("seed", (await hashOf(seed)) === commitment && told),
    ...(await promises(record, kept)),
    ownShare(record, kept, seat),
    await sealed(record),
    await listed(record, kept, list),
    ...(markets_by === "draw" ? [holds("markets", same(await drawMarkets(key, reveal.nonces.length), markets))] : []),
    holds("tiles", same(laid, rounds.map((round) => round.tiles)) && same(laid.at(-1), shown)),
    holds("bag", same(bag, [...art, ...reveal.bag])),
    holds("deck", same(deck, [...cards, ...reveal.deck])),
  ];
}
