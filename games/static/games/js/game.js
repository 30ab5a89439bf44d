/* A game's page: the line, the picture, and what draws it. The exchange and the end are fragments of the server's. */

import { coach } from "./coach.js";
import { countUp } from "./count.js";
import { asClock } from "./countdown.js";
import { watchDrags } from "./drag.js";
import { refresh, refreshRound, watchExchange } from "./exchange.js";
import { Line } from "./line.js";
import { showBag } from "./moment.js";
import { Search } from "./search.js";
import { Picture } from "./sight.js";
import { play } from "./sounds.js";
import { searching, SLOTS } from "./tiles.js";
import { callInTitle } from "./title.js";
import { drawTokens } from "./tokens.js";
import { flag, has, make, piece, say, write } from "./words.js";

const find = (id) => document.getElementById(id);
const game = find("game");
const picture = new Picture();
let seats = [];

const name = (seat) => (has(`seat-${seat}`) && seats[seat]?.kind === "bot" ? say(`seat-${seat}`) : (seats[seat]?.name ?? say(`seat-${seat}`)));
const own = (sight) => (sight?.seat === null ? null : (sight?.players[sight.seat] ?? null));
const repeat = (rows) => rows.flatMap(([one, number]) => Array(number).fill(one));

const TOLD_MS = 10_000;
// Why the server closed the line for good (PROTOCOL.md).
const SIGNED_OUT = 4401;
const MOVED = 4409;

/** Each sentence is spoken once, after those before it: nothing that matters is spoken over. */
function tell(sentence) {
  if (!sentence) return;
  const part = make("p", "", sentence);
  find("said").append(part);
  setTimeout(() => part.remove(), TOLD_MS);
}

const line = new Line(game.dataset.socket, game.dataset.code, {
  after: () => picture.head,
  told: hear,
  changed(state, notice, code) {
    document.body.dataset.line = state;
    // A new line is told anew.
    if (state === "cut" || state === "gone") heardOfMoves("");
    drawLine();
    const end = find("end");
    end.hidden = !line.isGone;
    write(end.querySelector("p"), notice || say("line-gone"));
    end.querySelector("button").hidden = code !== MOVED;
    end.querySelector("a").hidden = code !== SIGNED_OUT;
    if (!line.isGone) return;
    picture.forget();
    draw();
  },
});
find("end").querySelector("button").addEventListener("click", () => line.open());

const MOVES_COUNT_MS = 5000;
let moves = { text: "", timer: 0 };

/** Shows whether moves can be stored: that they wait stays on the page until they count again. */
function heardOfMoves(code, text = "") {
  clearTimeout(moves.timer);
  moves = { text, timer: code === "moves_count" ? setTimeout(() => heardOfMoves(""), MOVES_COUNT_MS) : 0 };
  document.body.dataset.moves = code;
  drawLine();
}

/** What there is to say of the line, or of the moves where the line is well. */
function drawLine() {
  const state = document.body.dataset.line;
  const ofLine = has(`line-${state}`) ? say(`line-${state}`) : "";
  write(find("line"), state === "open" || state === "slow" ? moves.text || ofLine : ofLine);
}

const search = new Search({ ask, now: () => line.now(), name });

/** False where nobody hears it: whoever asks is led to what says why, and to the way back. */
function ask(command) {
  if (line.isGone) {
    find("end").focus();
    return false;
  }
  picture.ask(line.ask(command));
  draw();
  return true;
}

function hear(message) {
  const answered = message.ack ?? message.id;
  const asked = answered && picture.settle(answered);
  switch (message.type) {
    case "welcome":
      seats = message.seats;
      picture.meet(message.edition);
      search.costs = new Map(message.edition.markets.map(({ face, cost }) => [face, repeat(Object.entries(cost))]));
      break;
    case "sight":
    case "events":
      if (!picture.take(message)) {
        picture.head = 0;
        line.open();
        return;
      }
      for (const event of message.events ?? []) announce(event);
      break;
    case "notice":
      heardOfMoves(message.code, message.text);
      break;
    case "refused":
      if (asked && message.code === "too_early") search.again(asked);
      else if (isSearch(picture.now)) search.refuse(message.text, asked?.do === "lift" ? asked.tile : null);
      else refuse(message.text);
  }
  draw();
}

const isSearch = (sight) => sight?.phase === "search" || sight?.phase === "countdown";

const REFUSED_MS = 8000;
let refused = 0;

/** Says why not, where there are no tiles to say it beside. */
function refuse(sentence) {
  const place = find("refused");
  play("refused");
  place.replaceChildren(make("span", "", sentence));
  place.hidden = false;
  clearTimeout(refused);
  refused = setTimeout(() => (place.hidden = true), REFUSED_MS);
}

const CALLED_MS = 3500;
let called = { at: -1, timer: 0 };

/** What somebody did that concerns everybody is spoken, and stands in the bar for a while; what follows from it at once is
    spoken only. */
function callOut({ at, seat }, sentence) {
  tell(sentence);
  if (at === called.at) return;
  const { character } = picture.sight.players[seat];
  const place = find("called");
  place.className = `called ${character}`;
  place.replaceChildren(piece("character", `character-${character}`), sentence);
  place.hidden = false;
  clearTimeout(called.timer);
  called = { at, timer: setTimeout(() => (place.hidden = true), CALLED_MS) };
}

/** What matters, for whoever does not see it. */
function announce(event) {
  if (event.type === "escaped") {
    play("token");
    callOut(event, say("escaped", { token: say(`token-${event.token}`), name: name(event.seat) }));
  }
  if (event.type === "returned" && event.by === "clock" && event.seat === picture.sight.seat) search.refuse(say("let-go"), event.tile);
  if (event.type === "abandoned") callOut(event, say("leaves", { name: name(event.seat) }));
  if (event.type === "bag_opened") {
    const said = say(event.got ? "bag-found" : "bag-empty", { name: name(event.seat), art: event.got && say(`art-${event.got}`) });
    play("bag");
    tell(said);
    showBag(event.got, said);
  }
}

/** What is said of this game's chance where players gather: what does not count is said at once. */
function drawChance() {
  const { line: place } = line.share;
  const own = line.share.standing(picture.head > 0);
  const told = own ? [[OWN_SHARE[own] ?? "bad", say(`share-${own}`)]] : [];
  if (picture.head > 0) {
    const { withheld, nothing } = line.share.others();
    if (nothing) told.push(["bad", say("share-nothing")]);
    for (const seat of withheld.filter((one) => one !== line.share.you)) told.push(["warn", say("share-withheld", { name: name(seat) })]);
  }
  find("listed").hidden = !place;
  if (place) write(find("listed").querySelector("a"), say("share-line", { number: place.number, head: place.head.slice(0, 16) }));
  const list = find("chance");
  if (list.dataset.shows === JSON.stringify(told)) return;
  list.dataset.shows = JSON.stringify(told);
  list.replaceChildren(...told.map(([kind, sentence]) => make("p", `notice ${kind}`, sentence)));
}
const OWN_SHARE = { sealed: "", in: "good", other: "warn" };

function draw() {
  const sight = picture.now;
  drawChance();
  if (!sight) return;
  const { phase } = sight;
  if (game.dataset.phase !== phase) enter(phase, sight);
  write(find("phase"), say(phase));
  write(find("round"), say("round", { round: sight.round }));
  drawTokens(find("tokens"), sight.players);
  drawSitters(sight);
  search.draw(sight, own(sight));
  coach(sight, own(sight));
  speak();
  find("may-leave").hidden = !own(sight) || own(sight).left || phase === "over";
  callInTitle("table", calling(sight, own(sight)));
  if (phase === "exchange" || phase === "over") refresh(picture.head);
  if (phase === "gathering") refreshRound(sight.round, picture.head);
  drawClock();
}

/** What the game waits for this player to do. */
function calling({ phase, turn, seat }, me) {
  if (phase === "gathering" && me && !me.ready && !me.left) return find("gathering-title").textContent;
  return phase === "exchange" && me && turn === seat ? say("your-turn") : "";
}

/** Whether the focus is nowhere, or on a part that goes with its phase: in a chat or a menu it stays. */
const isFree = (focused) => focused === document.body || Boolean(focused.closest("#gathering, #search, #exchange"));

const HEADINGS = { gathering: "gathering-title", exchange: "whose", over: "the-end" };
// The phase whose heading is not there yet to take the focus.
let unfocused = null;

/** The keyboard goes on from the heading of the phase, as soon as its fragment has come. */
function focusHeading() {
  const heading = unfocused && find(HEADINGS[unfocused]);
  if (!heading) return;
  if (isFree(document.activeElement)) heading.focus({ preventScroll: true });
  unfocused = null;
}

function enter(phase, sight) {
  const before = game.dataset.phase;
  game.dataset.phase = phase;
  if (phase === "search" && isFree(document.activeElement)) find("tiles").querySelector("button")?.focus({ preventScroll: true });
  unfocused = before && phase in HEADINGS && isFree(document.activeElement) ? phase : null;
  if (phase === "gathering") focusHeading();
  if (phase !== "countdown" && before) scrollTo(0, 0);
  if (phase === "gathering") tell(`${say("round", { round: sight.round })}. ${find("gathering-title").textContent}`);
  if (phase === "exchange" || phase === "over") tell(`${say(phase)}.`);
}

let spoken = { hand: null, full: false };

/** What one's own search comes to, for whoever does not see it: as the server has it, so that nothing is spoken that it
    refuses. */
function speak() {
  const { sight } = picture;
  const me = own(sight);
  const held = searching(sight, me) ? me.hand : null;
  const loot = held === null ? undefined : sight.tiles[held].loot;
  const full = searching(sight, me) && held === null && me.board.length === SLOTS;
  if (loot && held !== spoken.hand) tell(say("in-hand", { loot: say(loot) }));
  // Where there is a hint, it is spoken by itself.
  if (full && !spoken.full && find("coach").hidden) tell(say("coach-full"));
  spoken = { hand: held, full };
}

const whose = ({ turn, seat }) => (turn === seat ? say("your-turn") : turn === null ? "" : say("their-turn", { name: name(turn) }));

function drawSitters(sight) {
  const me = own(sight);
  const ready = find("ready");
  ready.hidden = !me || me.left;
  // Who pressed it for the last time may still take it back (R8.12).
  const spent = sight.phase === "gathering" && me?.readies === 0;
  ready.disabled = sight.phase !== "gathering" || (spent && !me.ready);
  ready.ariaPressed = Boolean(me?.ready);
  ready.setAttribute("aria-describedby", spent ? "spent" : "");
  find("spent").hidden = !spent;
  const list = find("sitters");
  const shown = JSON.stringify(sight.players.map((player) => [name(player.seat), player.ready, player.left]));
  if (list.dataset.shows === shown) return;
  list.dataset.shows = shown;
  list.replaceChildren(
    ...sight.players.map(({ seat, character, ready: on, left }) =>
      make(
        "li",
        character,
        piece("character", `character-${character}`),
        make("span", "name", name(seat)),
        flag(seat) ?? "",
        make("span", `badge ${on ? "good" : ""}`, say(left ? "left" : on ? "ready" : "not-ready")),
      ),
    ),
  );
}

find("ready").addEventListener("click", () => ask({ do: "ready", on: !own(picture.now)?.ready }));
find("leave").addEventListener("click", () => ask({ do: "leave" }));

const HURRY_SECONDS = 10;
let waits = false;
let rushed = false;

/** The time that is left, and the countdown over everything. */
function drawClock() {
  const { sight } = picture;
  const resuming = sight?.phase === "search" && sight.resumes_at > line.now();
  const until = resuming ? sight.resumes_at : sight?.limit;
  const seconds = sight && sight.phase !== "over" ? Math.max(0, Math.ceil((until - line.now()) / 1000)) : null;
  const clock = find("clock");
  write(clock, seconds === null ? "" : clockWords(seconds));
  const hurry = seconds !== null && seconds <= HURRY_SECONDS;
  clock.classList.toggle("hurry", hurry);
  for (const time of document.querySelectorAll("[data-turn-clock]")) write(time, clockWords(seconds ?? 0));
  const counts = sight?.phase === "countdown" || resuming;
  find("countdown").hidden = !counts || !seconds;
  if (counts && seconds) write(find("countdown"), String(seconds));
  search.drawHandClock();
  if (sight) speakOfTime(sight, counts, hurry, seconds);
}

/** When hands may move, and that the time for one's own is running out. */
function speakOfTime(sight, counts, hurry, seconds) {
  if (counts && !waits) tell(say("countdown"));
  if (waits && !counts && sight.phase === "search") tell(say("begins"));
  const me = own(sight);
  const acting = sight.phase === "exchange" ? me && sight.turn === me.seat : searching(sight, me);
  const rush = Boolean(hurry && !counts && acting);
  if (rush && !rushed) tell(`${find("clock").ariaLabel} ${clockWords(seconds)}`);
  [waits, rushed] = [counts, rush];
}

const clockWords = (seconds) => (seconds >= 3600 ? `${Math.floor(seconds / 3600)} h` : asClock(seconds));

let turn = null;
let counted = Boolean(document.querySelector("table.sheet"));
watchExchange(() => {
  const { sight } = picture;
  focusHeading();
  if (!counted && document.querySelector("table.sheet")) {
    counted = true;
    tell([find("the-end"), find("why-over")].map((part) => part.textContent).join(". "));
    countUp(find("exchange"));
  }
  if (sight?.phase === "exchange" && sight.turn !== turn) {
    turn = sight.turn;
    tell(whose(sight));
    if (turn === sight.seat) play("turn");
  }
  draw();
});

/** The proof is a module of its own, fetched by whoever asks for it. */
async function prove() {
  const told = find("checked");
  const nothing = (why) => told.replaceChildren(make("p", "notice warn", say(why)));
  if (!crypto.subtle) return nothing("proof-none");
  const answer = await fetch(game.dataset.record).catch(() => null);
  if (!answer?.ok) return nothing("proof-no-record");
  const { check, readList } = await import("./proof.js");
  const record = await answer.json();
  const [chosen] = find("kept-list").files;
  const text = chosen ? await chosen.text() : record.line ? await listFrom(record.line.number) : "";
  const found = await check(picture.sight, record, picture.edition, line.share.kept, await readList(text));
  const lines = found.map(({ name: checked, verdict, why }) => {
    const values = { what: say(`proof-${checked}`), why: why && say(`why-${why}`) };
    return make("li", `notice ${VERDICTS[verdict]}`, say(`proof-${verdict}`, values));
  });
  told.replaceChildren(make("ul", "stack tight", ...lines, ...zeros(record)));
  line.share.checked();
}
const VERDICTS = { holds: "good", broken: "bad", unsure: "warn" };

/** The part of the public list with the game's line in it; nothing where it cannot be had. */
async function listFrom(number) {
  const answer = await fetch(game.dataset.list.replace("/0", `/${number}`)).catch(() => null);
  return answer?.ok ? answer.text() : "";
}

/** A warning of every player whose share is zeros, and of a game to whose chance no player added anything. */
function zeros(record) {
  const people = record.seats.filter(({ kind }) => kind === "human");
  const empty = people.filter(({ nonce }) => /^0+$/.test(nonce));
  const warn = (sentence) => make("li", "notice warn", sentence);
  if (empty.length === people.length) return [warn(say("proof-zeros"))];
  return empty.map(({ seat, share }) => warn(say(share ? "share-withheld" : "proof-zero", { name: name(seat) })));
}
find("exchange").addEventListener("click", ({ target }) => target.closest("#check") && prove());

watchDrags();
document.addEventListener("visibilitychange", () => !document.hidden && draw());
setInterval(drawClock, 200);
line.open();
