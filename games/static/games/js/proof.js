/* "Check it yourself": every shuffle of a finished game, done again here from the revealed seed (games/rules/RECORD.md,
   "Chance"), and compared with what the page was told. Nothing is asked of the server. */

const PLACES = [
  ["garage", { jewels: 4, cash: 4, bag: 2, iron_key: 4, drawer: 4 }],
  ["office", { jewels: 4, cash: 4, bag: 2, brass_key: 4, gems: 4 }],
  ["safe", { jewels: 4, cash: 4, bag: 2, gems: 4, gold: 4 }],
];

const repeat = (rows) => rows.flatMap(([one, number]) => Array(number).fill(one));
const bytes = (hex) => Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));
const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const sha256 = (data) => crypto.subtle.digest("SHA-256", data);
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

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

async function shuffle(key, label, items) {
  const list = [...items];
  const stream = numbers(key, label);
  for (let i = list.length - 1; i > 0; i -= 1) {
    const j = await below(stream, i + 1);
    [list[i], list[j]] = [list[j], list[i]];
  }
  return list;
}

/** What holds and what does not: the names of what was checked, each with true or false. */
export async function check({ commitment, round, seat, tiles, reveal }, edition, nonce) {
  const seed = bytes(reveal.server_seed);
  const all = [seed, ...reveal.nonces.map(bytes)].flatMap((part) => [...part]);
  const game = await sha256(Uint8Array.from(all));
  const key = await crypto.subtle.importKey("raw", game, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const bag = await shuffle(key, "bag", repeat(edition.art));
  const deck = await shuffle(key, "deck", edition.cards.map(({ id }) => id));
  const house = PLACES.flatMap(([place, rows]) => repeat(Object.entries(rows)).map((loot) => [place, loot]));
  const laid = await shuffle(key, `tiles/${round}`, house);
  const held = new Set(reveal.hidden.flat());
  return [
    ["seed", hex(await sha256(seed)) === commitment],
    ...(nonce && seat !== null ? [["nonce", reveal.nonces[seat] === nonce]] : []),
    ["tiles", same(laid, tiles.map(({ place }, spot) => [place, reveal.loot[spot]]))],
    ["bag", same(bag.slice(bag.length - reveal.bag.length), reveal.bag)],
    ["deck", same(deck.slice(deck.length - reveal.deck.length), reveal.deck) && !reveal.deck.some((id) => held.has(id))],
  ];
}
