/* The words of the page (templates/games/_words.html) and its pictures. */

const told = new Map(
  [...document.getElementById("words").content.querySelectorAll("data")].map((one) => [one.value, one.textContent]),
);

export const has = (key) => told.has(key);

/** The words for this key, with `values` in the places that are marked for them. */
export const say = (key, values = {}) => told.get(key).replace(/\{(\w+)\}/g, (_, name) => values[name]);

const SVG = "http://www.w3.org/2000/svg";
const { pictures } = document.getElementById("game").dataset;

/** A picture of symbols from pictures.svg, as games/templatetags/art.py draws it: an id, or an id and where it lies. */
export function piece(kind, ...parts) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", `piece ${kind}`);
  svg.setAttribute("viewBox", "0 0 64 64");
  svg.setAttribute("aria-hidden", "true");
  for (const part of parts) {
    const [symbol, x, y, width, height] = [].concat(part);
    const use = document.createElementNS(SVG, "use");
    use.setAttribute("href", `${pictures}#${symbol}`);
    for (const [name, value] of Object.entries({ x, y, width, height })) {
      if (value !== undefined) use.setAttribute(name, value);
    }
    svg.append(use);
  }
  return svg;
}

export const front = (place) => piece("front", `tile-${place}`);
export const back = (place, loot) => piece("back", `back-${place}`, [`loot-${loot}`, 5, 5, 54, 54]);
/** A hand at work: by head and colour one sees whose. */
export const grip = (character) => piece("grip", [`character-${character}`, 0, 0, 52, 52], ["hand", 32, 32, 32, 32]);

/** An element with a class and content. */
export function make(tag, name, ...content) {
  const element = document.createElement(tag);
  element.className = name;
  element.append(...content);
  return element;
}

const flags = document.getElementById("flags")?.content;

/** The way to report who sits there; none for a bot, for oneself, and for who is not signed in. */
export const flag = (seat) => flags?.querySelector(`[data-seat="${seat}"] > .flag`)?.cloneNode(true);

/** Says it on the page, if it is not there yet: a live region speaks only of what changes. */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
