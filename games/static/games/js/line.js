/* The line to the table (PROTOCOL.md): joins, beats, comes back with what it has, and sends again what nobody answered. */

import { random } from "./hashing.js";
import { Share } from "./share.js";

const BEAT_MS = 2500;
const SLOW_MS = 700;
const LATEST_MS = 8000;
// A beat without an answer for so long went into a dead line. With the pause before it, and the proxy's two seconds until
// it asks another process, a page whose host was lost is back within ten seconds.
const DEAD_MS = 5000;
// Close codes after which coming back is of no use, or only when the person asks for it.
const STAY_AWAY = new Set([1009, 4400, 4401, 4403, 4404, 4409]);
// 0 stands for a line that was given up here: that took long enough.
const AT_ONCE = new Set([0, 4408, 4503]);
const MOVED = 4409;
const FLOOD = 4429;
// Notices of how it stands with the moves; any other one says why the line is about to be closed.
const OF_MOVES = new Set(["moves_wait", "moves_count", "uncertain"]);

export class Line {
  #socket = null;
  #page = random(8);
  #asked = 0;
  #unanswered = new Map();
  #failures = 0;
  #timers = [];
  #mark;
  #beatAt = 0;
  #ahead = 0;
  #state = "";
  #joined = false;
  // Of the game when this line was joined: 0 before the first move.
  #head = 0;

  /** `after()` is the last event one has; `told(message)` takes what comes; `changed(state, notice)` the line's state. */
  constructor(path, code, { after, told, changed }) {
    this.address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`;
    this.share = new Share(code);
    Object.assign(this, { after, told, changed });
    addEventListener("online", () => this.#isDown && this.open());
    document.addEventListener("visibilitychange", () => !document.hidden && this.#isDown && this.open());
    // A page that is left, or kept for the way back, leaves its seat at once; one that is shown again returns.
    addEventListener("pageshow", ({ persisted }) => persisted && this.open());
  }

  /** Cut, and nobody is about to mend it. */
  get #isDown() {
    return this.#state === "cut" && this.#socket.readyState !== WebSocket.CONNECTING;
  }

  /** Not to come back by itself: nobody hears what is asked now. */
  get isGone() {
    return this.#state === "gone";
  }

  /** The game's clock, as well as this page knows it. */
  now() {
    return performance.now() + this.#ahead;
  }

  open() {
    this.#rest();
    this.#socket?.close();
    const socket = new WebSocket(this.address);
    this.#socket = socket;
    this.#joined = false;
    this.#timers = [setTimeout(() => this.#closed(0, ""), LATEST_MS)];
    this.#say(this.#failures ? "cut" : "joining");
    let notice = "";
    // A browser may ask for other languages here than for the page.
    const language = document.documentElement.lang;
    socket.onopen = () => this.#send({ do: "join", page: this.#page, after: this.after() || null, language });
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      if (message.type === "notice" && !OF_MOVES.has(message.code)) notice = message.text;
      else this.#hear(message);
    };
    socket.onclose = ({ code }) => socket === this.#socket && this.#closed(code, notice);
  }

  /** Asks for something; the answer comes as an event with `ack`, an `ack` or a `refused`. */
  ask(command) {
    this.#asked += 1;
    const said = { ...command, id: `${this.#page}-${this.#asked}` };
    this.#unanswered.set(said.id, said);
    this.#send(said);
    return said;
  }

  #send(message) {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #say(state, notice = "", code = 0) {
    this.#state = state;
    this.changed(state, notice, code);
  }

  #hear(message) {
    if (message.type === "welcome") this.#welcome(message);
    if (message.type === "beat") return this.#answered(message);
    if (message.type === "share") this.share.taken(message);
    if (message.type === "shares") this.#answer(this.share.fixed(message, this.#head));
    this.#unanswered.delete(message.ack ?? message.id);
    this.told(message);
    // Before the first move what was said of the chance may be lost: joining anew says it again.
    if (message.code === "moves_count" && !this.after()) this.open();
  }

  #welcome(message) {
    const { at, you, head } = message;
    if (!this.#joined) {
      this.#joined = true;
      this.#rest();
      this.#failures = 0;
      this.#ahead = at - performance.now();
      this.#say("open");
      this.#mark = undefined;
      this.#beat();
      for (const command of this.#unanswered.values()) this.#send(command);
    }
    this.#head = head;
    this.share.meet(message);
    if (head === 0 && you !== null) this.#answer(this.share.commit());
  }

  /** Sends what this browser has to say of the game's chance, on the line where it was asked. */
  async #answer(wanted) {
    const socket = this.#socket;
    const message = await wanted;
    if (message && socket === this.#socket) this.#send(message);
  }

  #beat() {
    this.#beatAt = performance.now();
    this.#send({ do: "beat", ...(this.#mark && { mark: this.#mark }) });
    this.#timers = [
      setTimeout(() => this.#say("slow"), SLOW_MS * 2),
      setTimeout(() => this.#closed(0, ""), DEAD_MS),
    ];
  }

  #answered({ at, mark }) {
    const trip = performance.now() - this.#beatAt;
    this.#rest();
    this.#mark = mark;
    this.#ahead = at + trip / 2 - performance.now();
    this.#say(trip > SLOW_MS ? "slow" : "open");
    this.#timers = [setTimeout(() => this.#beat(), BEAT_MS)];
  }

  #rest() {
    this.#timers.forEach(clearTimeout);
    this.#timers = [];
  }

  #closed(code, notice) {
    this.#rest();
    const socket = this.#socket;
    this.#socket = { readyState: WebSocket.CLOSED, close() {} };
    socket.close();
    if (code === MOVED) this.share.moved();
    if (STAY_AWAY.has(code)) {
      // Whoever comes back later means something else by then.
      this.#unanswered.clear();
      return this.#say("gone", notice, code);
    }
    this.#say("cut", notice);
    const patience = code === FLOOD ? 10_000 : AT_ONCE.has(code) ? 0 : Math.min(500 * 2 ** this.#failures, LATEST_MS);
    this.#failures += 1;
    this.#timers = [setTimeout(() => this.open(), patience)];
  }
}
