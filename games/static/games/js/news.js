// A live part of a page: <… data-news="/ws/1/news/…" hx-get=… hx-trigger="rung">. It is fetched anew when the doorbell
// rings, when the line comes back, and now and then, so that a lost ring costs nothing.

import { drawCountdowns } from "./countdown.js";
import { keepFocus } from "./focus.js";
import { callInTitle } from "./title.js";

const AGAIN = [1000, 2000, 5000, 10000, 30000];
// Not 4401: where a password was changed, this browser goes on in a new session; else the page goes on as a visitor's.
const FOR_GOOD = new Set([4400, 4404]);
const BEAT_MS = 20_000;
// Many rings at once are one look, and not every page looks in the same moment.
const GATHER_MS = 150;
// How long a press may wait for its turn.
const PRESSED_MS = 10_000;
// How long a refusal stays in sight, whatever a look brings meanwhile.
const READ_MS = 15_000;

// Every answer has its own tokens; but for them it may say what is shown already.
const bare = (html) => html.replace(/(csrfmiddlewaretoken" value=")[^"]*/g, "$1");

const listen = (part) => {
  const address = location.origin.replace(/^http/, "ws") + part.dataset.news;
  // So long between two looks at least, for a part that many people have open: <… data-calm="5000">.
  const calm = Number(part.dataset.calm ?? 0);
  let tries = 0;
  let waiting = 0;
  let looked = -Infinity;

  const look = () => {
    if (waiting) return;
    // A browser lets a page in the background wait a minute for its timers. It is led to its game at once all the same.
    if (document.hidden) return void (calm || htmx.trigger(part, "rung"));
    const soon = (GATHER_MS + calm / 5) * (0.5 + Math.random());
    waiting = setTimeout(() => {
      waiting = 0;
      looked = performance.now();
      htmx.trigger(part, "rung");
    }, Math.max(soon, looked + calm - performance.now()));
  };

  const connect = () => {
    const socket = new WebSocket(address);
    const beat = setInterval(() => {
      socket.readyState === WebSocket.OPEN && socket.send("beat");
      // In a room even a page in the background says that its person is there.
      if (!document.hidden || "stays" in part.dataset) look();
    }, BEAT_MS);
    socket.addEventListener("open", () => {
      // The page was made before it listened.
      look();
      tries = 0;
    });
    socket.addEventListener("message", look);
    socket.addEventListener("close", ({ code }) => {
      clearInterval(beat);
      if (!FOR_GOOD.has(code)) setTimeout(connect, AGAIN[Math.min(tries++, AGAIN.length - 1)]);
    });
  };

  // A press that waits behind a look is not swept away by what the look brings: what the press brings is newer.
  let pressed = -Infinity;
  part.addEventListener("htmx:confirm", ({ detail }) => {
    if (detail.verb !== "get") pressed = performance.now();
  });
  part.addEventListener("htmx:beforeRequest", ({ detail }) => {
    if (detail.requestConfig.verb !== "get") pressed = -Infinity;
  });

  // What is older than what is shown, or the same, is dropped; and somebody in the middle of choosing or writing is not
  // disturbed, except by being led elsewhere, which happens before this.
  let shown = "";
  let giveBack = () => {};
  part.addEventListener("htmx:beforeSwap", ({ detail }) => {
    if (detail.target !== part || (!detail.shouldSwap && detail.xhr.status !== 422)) return;
    const brought = bare(detail.serverResponse);
    const version = Number(detail.xhr.getResponseHeader("Midnight-Version"));
    const newest = Number(part.querySelector("[data-version]")?.dataset.version ?? 0);
    const own = document.activeElement;
    const busy = part.contains(own) && own.matches("input:not([readonly], [type=hidden])") && own.value !== "";
    const waits = busy || brought === shown || performance.now() - pressed < PRESSED_MS;
    if ((version && version < newest) || (waits && detail.requestConfig.verb === "get")) {
      detail.shouldSwap = false;
      return;
    }
    shown = brought;
    giveBack = keepFocus(part);
  });
  // Why a press was refused outlives the looks that follow it; what is shown again is not spoken again.
  let refusal = null;
  let refusedAt = -Infinity;
  part.addEventListener("htmx:afterSwap", ({ detail }) => {
    if (detail.target !== part) return;
    const brought = part.querySelector("[role=alert]");
    if (detail.requestConfig.verb !== "get") {
      refusal = brought?.cloneNode(true) ?? null;
      refusal?.removeAttribute("role");
      refusedAt = performance.now();
    } else if (refusal && !brought && performance.now() - refusedAt < READ_MS) {
      part.firstElementChild.prepend(refusal.cloneNode(true));
    }
    giveBack();
  });
  document.addEventListener("visibilitychange", () => document.hidden || look());
  connect();
};

for (const part of document.querySelectorAll("[data-news]")) {
  listen(part);
  setInterval(() => drawCountdowns(part, () => htmx.trigger(part, "rung")), 1000);
}

const callTurn = () => callInTitle("turns", document.querySelector(".turns .turn span")?.textContent);
callTurn();
document.addEventListener("htmx:afterSettle", callTurn);

// <button data-copies="id"> puts what stands in a field on the clipboard, and says so.
document.addEventListener("click", async ({ target }) => {
  const button = target.closest("[data-copies]");
  if (!button) return;
  const field = document.getElementById(button.dataset.copies);
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    button.querySelector(".said").textContent = button.dataset.copied;
  } catch {
    document.execCommand("copy");
  }
});
