/* What calls for somebody who has this page in the background stands first in its title. */

const said = document.title;
const calls = new Map();

/** This part of the page calls in these words, or not any more. */
export function callInTitle(part, words) {
  calls.set(part, words);
  const first = [...calls.values()].find(Boolean);
  const title = first ? `${first} · ${said}` : said;
  if (document.title !== title) document.title = title;
}
