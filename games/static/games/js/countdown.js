/* <time data-countdown="45"> counts its seconds down from the moment it came to the page. */

const SECOND_MS = 1000;

/** Minutes and seconds, such as 1:05. */
export const asClock = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

const ends = new WeakMap();

/** Draws all countdowns below `root`; `over(time)` is called once for each that reaches zero. */
export function drawCountdowns(root, over, now = performance.now()) {
  for (const time of root.querySelectorAll("[data-countdown]")) {
    if (!ends.has(time)) ends.set(time, now + Number(time.dataset.countdown) * SECOND_MS);
    const left = Math.max(0, Math.ceil((ends.get(time) - now) / SECOND_MS));
    time.textContent = asClock(left);
    if (left > 0 || "over" in time.dataset) continue;
    time.dataset.over = "";
    over(time);
  }
}
