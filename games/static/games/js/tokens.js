/* The escape tokens of a round, and who took them. */

import { make, piece } from "./words.js";

export function drawTokens(list, players) {
  const shown = players.map(({ token }) => token).join();
  if (list.dataset.shows === shown) return;
  list.dataset.shows = shown;
  list.replaceChildren(
    ...players.map((_, index) => {
      const holder = players.find(({ token }) => token === index + 1);
      const item = make("li", holder ? "taken" : "", piece("token", "token", `token-${index + 1}`));
      if (holder) item.append(piece("character", `character-${holder.character}`));
      return item;
    }),
  );
}
