/* Hints on the way, for a person's first games: what may be done next. Skipped by one tap, and for good. */

import { say, write } from "./words.js";

const KEPT = "taught";
const GAMES = 3;

const exchange = document.getElementById("exchange");
const places = { search: document.getElementById("coach"), table: document.getElementById("guide") };
const { code } = document.getElementById("game").dataset;
const taught = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
let wanted = taught.includes(code) || taught.length < GAMES;
let counted = taught.includes(code);

for (const place of Object.values(places)) {
  place.querySelector("button").addEventListener("click", () => {
    wanted = false;
    for (const one of Object.values(places)) one.hidden = true;
    localStorage.setItem(KEPT, JSON.stringify(Array(GAMES).fill("")));
  });
}

/** The hint for this moment of a search; nothing new while a tile turns over. */
function searching({ tiles }, { hand, board, token }) {
  if (token !== null) return null;
  const kept = board.map((spot) => tiles[spot].loot);
  if (hand !== null) {
    const { loot } = tiles[hand];
    if (!loot) return "";
    if (loot === "drawer") return "coach-drawer";
    return loot === "iron_key" && !kept.includes("iron_key") ? "coach-iron" : "coach-keep";
  }
  if (kept.length === 6) return "coach-full";
  if (kept.includes("brass_key")) return "coach-safe";
  if (kept.includes("iron_key")) return "coach-office";
  return kept.length ? "coach-key" : "coach-lift";
}

/** The hint for this moment of an exchange, as its fragment offers it; nothing new while the fragment is older. */
function trading({ seq, turn, seat }) {
  const shown = exchange.firstElementChild;
  if (!shown.querySelector(".whose") || Number(shown.dataset.seq) < seq) return "";
  if (exchange.querySelector(".place")) return "coach-place";
  if (turn !== seat) return "coach-wait";
  return exchange.querySelector("#trade input[type=radio]") ? "coach-trade" : "coach-pass";
}

/** This is one of the first games: a search of one's own, not what one watches or looks up afterwards. */
function count() {
  if (!counted) localStorage.setItem(KEPT, JSON.stringify([...taught, code]));
  counted = true;
}

function hint(sight, own) {
  if (!wanted || !own || own.left) return [null, null];
  const { phase } = sight;
  if (phase === "search") count();
  if (phase === "search" || phase === "countdown") return [searching(sight, own), null];
  if (phase === "gathering") return [null, "coach-wares"];
  return [null, phase === "exchange" ? trading(sight) : null];
}

export function coach(sight, own) {
  const [search, table] = hint(sight, own);
  for (const [place, key] of [[places.search, search], [places.table, table]]) {
    place.hidden = key === null;
    if (key) write(place.querySelector("p"), say(key));
  }
}
