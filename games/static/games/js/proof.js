/* "Check it yourself": every shuffle of a finished game, done again here from the revealed seed (games/rules/RECORD.md,
   "Chance"), and compared with what the page was told and with the record, the only thing that is asked of the server. */

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

/** What holds and what does not: the names of what was checked, each with true or false. `nonce` and `commitment` are
    what this browser gave and was shown before the first move, null where it was not there. */
export async function check({ seat, tiles, reveal, ...sight }, { events, markets, markets_by }, edition, { nonce, commitment }) {
  const seed = bytes(reveal.server_seed);
  const all = [seed, ...reveal.nonces.map(bytes)].flatMap((part) => [...part]);
  const game = await sha256(Uint8Array.from(all));
  const key = await crypto.subtle.importKey("raw", game, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const bag = await shuffle(key, "bag", repeat(edition.art));
  const deck = await shuffle(key, "deck", edition.cards.map(({ id }) => id));
  const house = PLACES.flatMap(([place, rows]) => repeat(Object.entries(rows)).map((loot) => [place, loot]));
  const laid = [];
  const rounds = events.filter(({ type }) => type === "round_started");
  for (const { round } of rounds) laid.push(await shuffle(key, `tiles/${round}`, house));
  const { art, cards } = taken(events);
  const shown = tiles.map(({ place }, spot) => [place, reveal.loot[spot]]);
  return [
    ["seed", hex(await sha256(seed)) === (commitment ?? sight.commitment)],
    ...(nonce && seat !== null ? [["nonce", reveal.nonces[seat] === nonce]] : []),
    ...(markets_by === "draw" ? [["markets", same(await drawMarkets(key, reveal.nonces.length), markets)]] : []),
    ["tiles", same(laid, rounds.map((round) => round.tiles)) && same(laid.at(-1), shown)],
    ["bag", same(bag, [...art, ...reveal.bag])],
    ["deck", same(deck, [...cards, ...reveal.deck])],
  ];
}
