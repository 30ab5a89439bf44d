/* Bytes, hashes and the one way to write a value (games/rules/RECORD.md). Without HTTPS a browser has no `subtle`. */

export const canHash = Boolean(crypto.subtle);

export const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
export const bytes = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
export const random = (number) => hex(crypto.getRandomValues(new Uint8Array(number)));
/** The hash of bytes that are written in hexadecimal, or of a text, in hexadecimal. */
export const hashOf = async (text) => hex(await crypto.subtle.digest("SHA-256", bytes(text)));
export const hashOfText = async (text) => hex(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));

/** The same text for the same value: names in order, no spaces. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`);
  return `{${members.join(",")}}`;
}

/** The hash of all that was agreed on before the first move: what the game's line in the public list must be. */
export function digestOf({ id, rulebook, ranked, pace, markets_by, limits, edition, seats, commitment, markets }, shares) {
  const who = seats.map(({ kind, character }, seat) => ({ seat, kind, character, share: shares[seat] }));
  const agreed = { id, rulebook, ranked, pace, markets_by, limits, edition, seats: who, commitment };
  return hashOfText(canonical(markets_by === "owner" ? { ...agreed, markets } : agreed));
}
