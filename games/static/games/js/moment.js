/* What deserves a moment of everybody's attention: a leather bag is opened, and art comes out of it. */

import { make, piece, write } from "./words.js";

const LONG_MS = 2600;
const SILVER = new Set(["manuscript", "chalice", "statuette"]);

const place = document.getElementById("moment");
let timer = 0;

/** A token of art. */
export const token = (kind) => piece("art", `disc-${SILVER.has(kind) ? "silver" : "gold"}`, `art-${kind}`);

/** The bag, what comes out of it (nothing, where `kind` is null), and what there is to say. */
export function showBag(kind, sentence) {
  const words = make("p", "");
  write(words, sentence);
  place.replaceChildren(make("div", "out-of-bag", ...(kind ? [token(kind)] : []), piece("bag", "bag-of-art")), words);
  place.hidden = false;
  clearTimeout(timer);
  timer = setTimeout(() => {
    place.hidden = true;
  }, LONG_MS);
}
