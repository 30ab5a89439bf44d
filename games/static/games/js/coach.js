/* Hints on the way, for a person's first games: what may be done next. Skipped by one tap, and for good. */

import { say, write } from "./words.js";

const KEPT = "taught";
const GAMES = 3;

const place = document.getElementById("coach");
const { code } = document.getElementById("game").dataset;
const taught = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
let wanted = taught.includes(code) || taught.length < GAMES;
if (wanted && !taught.includes(code)) localStorage.setItem(KEPT, JSON.stringify([...taught, code]));

place.querySelector("button").addEventListener("click", () => {
  wanted = false;
  place.hidden = true;
  localStorage.setItem(KEPT, JSON.stringify(Array(GAMES).fill("")));
});

/** The hint for this moment of a search; nothing new while a tile turns over. */
function hint({ tiles }, { hand, board }) {
  const kept = board.map((spot) => tiles[spot].loot);
  if (hand !== null) {
    const { loot } = tiles[hand];
    if (!loot) return null;
    if (loot === "drawer") return "coach-drawer";
    return loot === "iron_key" && !kept.includes("iron_key") ? "coach-iron" : "coach-keep";
  }
  if (kept.length === 6) return "coach-full";
  if (kept.includes("brass_key")) return "coach-safe";
  if (kept.includes("iron_key")) return "coach-office";
  return kept.length ? "coach-key" : "coach-lift";
}

export function coach(sight, own) {
  place.hidden = !(wanted && own && own.token === null);
  const key = place.hidden ? null : hint(sight, own);
  if (key) write(place.querySelector("p"), say(key));
}
