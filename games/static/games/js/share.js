/* What this browser adds to the chance of a game, and what it was shown before the first move: kept until the game is
   checked. PROTOCOL.md says what is sent when. */

import { canHash, digestOf, hashOf, random } from "./hashing.js";

const PREFIX = "chance-";
const MOST_KEPT = 100;

/** What is kept of each game, the one that is needed least first: those that were checked, then the oldest. */
function known() {
  const names = Object.keys(localStorage).filter((name) => name.startsWith(PREFIX));
  const kept = names.map((name) => ({ name, ...JSON.parse(localStorage[name]) }));
  return kept.sort((one, other) => Boolean(other.checked) - Boolean(one.checked) || one.at - other.at);
}

export class Share {
  #name;
  #kept;
  #agreed = null;
  // The last that the server said of the shares.
  #told = null;

  constructor(code) {
    this.code = code;
    this.#name = PREFIX + code;
    this.#kept = this.#load();
  }

  /** What this browser has of its own; empty where it was not there before the first move. */
  get kept() {
    return this.#kept;
  }

  /** The server greets: what it shows before the first move counts, whatever it says later. */
  meet({ head, you, seats, commitment, ...rest }) {
    this.you = you;
    if (head > 0) return;
    this.#agreed = { id: this.code, seats, commitment, ...rest };
    this.#keep({ at: this.#kept.at ?? Date.now(), seat: you, commitment: this.#kept.commitment ?? commitment });
  }

  /** What to send before the shares are fixed: the hash of a nonce, or the nonce where this browser cannot hash. */
  async commit() {
    const nonce = this.#kept.nonce ?? random(16);
    if (!canHash) {
      this.#keep({ nonce });
      return { do: "nonce", nonce };
    }
    const share = await hashOf(nonce);
    this.#keep({ nonce, share });
    return { do: "share", share };
  }

  /** What the server has for this seat before the shares are fixed. */
  taken({ share }) {
    if (share && share === this.#kept.share) this.#keep({ taken: true });
  }

  /** The shares are fixed; the answer is what to send, if anything is left to open. */
  async fixed({ shares, counts, line }, head) {
    this.#told = { shares, counts, line };
    if (head > 0 || !this.#agreed) return null;
    if (!this.#kept.shares && canHash) {
      this.#keep({ shares, line, digest: await digestOf(this.#agreed, shares) });
    }
    const { nonce, share } = this.#kept;
    if (this.you === null || !share || shares[this.you] !== share || counts[this.you]) return null;
    this.#keep({ opened: true });
    return { do: "nonce", nonce };
  }

  /** This seat is played from another page from now on: perhaps that one's share counts. */
  moved() {
    this.#keep({ moved: true });
  }

  checked() {
    this.#keep({ checked: true });
  }

  get line() {
    return this.#told?.line ?? null;
  }

  /** How it stands with this seat's share: `sealed` `in` `late` `other` `refused`, null where there is none to speak of.
      Only once the game has begun is it said for good. */
  standing(hasBegun) {
    if (this.you === null || !this.#kept.nonce) return null;
    if (!this.#told) return "sealed";
    const { shares, counts } = this.#told;
    const own = !this.#kept.share || shares[this.you] === this.#kept.share;
    if (shares[this.you] === null && !this.#kept.taken) return "late";
    if (!own) return this.#kept.moved ? "other" : "refused";
    if (counts[this.you]) return "in";
    return hasBegun ? "refused" : "sealed";
  }

  /** The seats that sealed a share and did not open it, and whether anything but the server's seed counts. */
  others() {
    const { shares, counts } = this.#told ?? { shares: [], counts: [true] };
    return { withheld: shares.flatMap((share, seat) => (share && !counts[seat] ? [seat] : [])), nothing: !counts.some(Boolean) };
  }

  #load() {
    try {
      return JSON.parse(localStorage[this.#name] ?? "{}");
    } catch {
      return {};
    }
  }

  /** Where the store is full what is needed least goes; where there is none this page alone remembers. */
  #keep(more) {
    this.#kept = { ...this.#kept, ...more };
    try {
      const others = known().filter(({ name }) => name !== this.#name);
      for (const { name } of others.slice(0, Math.max(0, others.length - MOST_KEPT))) localStorage.removeItem(name);
      this.#store(others);
    } catch {
      // Private windows may refuse to keep anything; the check then says that it cannot know.
    }
  }

  #store(others) {
    for (;;) {
      try {
        localStorage.setItem(this.#name, JSON.stringify(this.#kept));
        return;
      } catch (full) {
        if (!others.length) throw full;
        localStorage.removeItem(others.shift().name);
      }
    }
  }
}
