/* A finished game, seen again: plays its record at any speed, from any seat's sight or with all open. */

import { Board } from "./replay-board.js";
import { ALL, Past } from "./replay-past.js";
import { lay, momentBefore, nextMoment } from "./replay-track.js";
import { Tiles } from "./tiles.js";
import { drawTokens } from "./tokens.js";
import { make, say, write } from "./words.js";

// Nobody waits through a night, and nobody overlooks a trade, whatever the game's clock said.
const LONGEST_MS = 2500;
const TRADE_MS = 700;
// Nor is anything missed by whose page stood still, in the background or on a busy machine.
const BLINK_MS = 250;
const REMEMBER_MS = 300;
const LINES = 24;
const FAR = 3;
const WATCHER = "w";

const find = (id) => document.getElementById(id);
const record = JSON.parse(find("record").textContent);
const { events, told, moments } = record;
const past = new Past(record);
const name = (seat) => record.seats[seat].name;
const picture = () => Object.assign(make("div", "tile"), { role: "img" });
const tiles = new Tiles(find("tiles"), name, picture);
const board = new Board(record.edition);
const game = find("game");
const scrub = find("scrub");
const as = find("as");
const speed = find("speed");
const report = find("report");
const wait = events.map(({ at, type }, index) => {
  const least = ["bought", "bag_opened", "placed", "passed", "exchange_started"].includes(type) ? TRADE_MS : 0;
  return Math.min(LONGEST_MS, Math.max(least, at - (events[index - 1]?.at ?? 0)));
});

let seq = 1;
let playing = false;
let asked = 0;
let beating = 0;
let remembering = 0;
let drawn = 1;

const seat = () => (as.value === ALL ? ALL : as.value === WATCHER ? null : Number(as.value));

/** What an event says to whoever looks: its own player may know more than all the others. */
function sentence(number) {
  const seen = seat();
  const open = seen === ALL || (seen !== null && seen === events[number - 1].seat);
  return open ? told[number - 1].at(-1) : told[number - 1][0];
}

const two = (number) => String(Math.floor(number)).padStart(2, "0");
const clock = (ms) => `${ms >= 3_600_000 ? `${Math.floor(ms / 3_600_000)}:` : ""}${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}`;

function draw() {
  asked = 0;
  const sight = past.sight(seq, seat());
  const { phase, round, at } = sight;
  const trading = phase === "exchange" || phase === "over";
  game.dataset.phase = phase;
  game.dataset.far = Math.abs(seq - drawn) > FAR ? "yes" : "no";
  drawn = seq;
  write(find("phase"), say(phase));
  write(find("round"), say("round", { round }));
  write(find("clock"), clock(at));
  drawTokens(find("tokens"), sight.players);
  if (!trading) {
    tiles.draw(sight, sight.players[sight.seat]);
    tiles.spots.forEach((tile, spot) => tile.classList.toggle("now", spot === events[seq - 1].tile));
  }
  board.draw(sight, events[seq - 1]);
  const now = sentence(seq);
  write(find("now"), now);
  scrub.value = seq;
  scrub.ariaValueText = `${say("round", { round })}, ${say(phase)}: ${now}`;
  drawLog();
  if (report) report.dataset.seq = seq;
  for (const [id, off] of [["back", seq === 1], ["on", seq === events.length]]) find(id).ariaDisabled = off;
}

const lines = Array.from({ length: LINES }, () => make("a", ""));
find("log").replaceChildren(...lines.map((line) => make("li", "", line)));

/** What has happened so far, the latest first; each line leads back to its moment. */
function drawLog() {
  lines.forEach((line, back) => {
    const number = seq - back;
    line.parentElement.hidden = number < 1;
    line.href = address(Math.max(1, number));
    if (number > 0) write(line, sentence(number));
  });
}

/** In the list of moments, the points that the chosen viewer knew then: all of them, their own, or none. */
function showPoints() {
  for (const points of document.querySelectorAll(".standings > [data-seat]")) {
    points.hidden = ![ALL, points.dataset.seat].includes(as.value);
  }
}

const address = (number) => `#e=${number}&as=${as.value}`;

function ask() {
  asked ||= requestAnimationFrame(draw);
}

/** Comes to this moment; `aloud` where somebody is to hear what happens there. */
function come(to, aloud) {
  seq = Math.min(events.length, Math.max(1, to));
  if (aloud) write(find("said"), sentence(seq));
  clearTimeout(remembering);
  remembering = setTimeout(() => history.replaceState(null, "", address(seq)), REMEMBER_MS);
}

/** Shows this moment in the next frame, however often somebody asks until then. */
function go(to, aloud = false) {
  come(to, aloud);
  ask();
}

function step(to) {
  pause();
  if (to !== undefined) go(to, true);
}

function pause() {
  cancelAnimationFrame(beating);
  playing = false;
  game.dataset.playing = "no";
  write(find("play").querySelector(".visually-hidden"), say("play"));
}

function play() {
  if (seq === events.length) go(1);
  playing = true;
  game.dataset.playing = "yes";
  write(find("play").querySelector(".visually-hidden"), say("pause"));
  let before = performance.now();
  let due = 0;
  const beat = (now) => {
    due += Math.min(now - before, BLINK_MS) * Number(speed.value);
    before = now;
    let to = seq;
    while (to < events.length && due >= wait[to]) {
      due -= wait[to];
      to += 1;
    }
    if (to !== seq) {
      const noted = nextMoment(moments, seq);
      come(to, noted !== undefined && noted <= to);
      // In this frame: what is paused in between stands where it is seen to stand.
      draw();
    }
    if (to === events.length) pause();
    else beating = requestAnimationFrame(beat);
  };
  beating = requestAnimationFrame(beat);
}

const toggle = () => (playing ? pause() : play());
const acts = {
  play: toggle,
  back: () => step(seq - 1),
  on: () => step(seq + 1),
  "moment-before": () => step(momentBefore(moments, seq) ?? 1),
  "next-moment": () => step(nextMoment(moments, seq) ?? events.length),
};
for (const [id, act] of Object.entries(acts)) find(id).addEventListener("click", act);
scrub.addEventListener("input", () => {
  pause();
  go(Number(scrub.value));
});
as.addEventListener("change", () => {
  showPoints();
  go(seq);
});

const keys = {
  " ": acts.play,
  k: acts.play,
  ArrowLeft: acts.back,
  ArrowRight: acts.on,
  PageUp: acts["moment-before"],
  PageDown: acts["next-moment"],
  Home: () => step(1),
  End: () => step(events.length),
};
document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || target.closest("select, textarea, dialog, [tabindex='0']")) return;
  if (key === " " && target.closest("button, a, summary")) return;
  const act = keys[key];
  if (!act) return;
  event.preventDefault();
  act();
});

/**
 * A link to a moment: #e=123&as=1; `as` is a seat, w for whoever watched, all for all open. One that leads elsewhere on the
 * page changes nothing of the game.
 */
function follow() {
  const said = new URLSearchParams(location.hash.slice(1));
  const to = Number.parseInt(said.get("e"), 10);
  if (Number.isNaN(to)) return go(seq);
  const wanted = said.get("as");
  if ([...as.options].some(({ value }) => value === wanted)) as.value = wanted;
  showPoints();
  pause();
  go(to);
}

addEventListener("hashchange", follow);
addEventListener("resize", ask);
find("copy").addEventListener("click", async () => {
  const link = new URL(address(seq), location.href);
  await navigator.clipboard.writeText(link.href);
  write(find("said"), say("copied"));
});
find("copy").hidden = !navigator.clipboard || !game.dataset.code;
lay(find("track"), record);
follow();
requestAnimationFrame(() => performance.mark("drawn"));
