/* The exchange is htmx: this drops what comes late, asks again for what did not come, says which form was lost, and keeps
   what one is choosing, the focus and the scroll. */

const AGAIN_MS = 500;
const LATEST_MS = 30_000;
// The status of an answer that says why a move was refused.
const REFUSED = 422;

const place = document.getElementById("exchange");
// How far the table is, as the page has heard.
let known = 0;
let failures = 0;
let timer = 0;
// What a form asked for that did not get through.
let unsent = null;

const shownSeq = () => Number(place.firstElementChild?.dataset.seq ?? 0);

/** What finds the same part again in another fragment: everything there that takes the focus has one of these. */
function nameOf(element) {
  if (element?.id) return `#${CSS.escape(element.id)}`;
  if (element?.name) return `[name="${element.name}"][value="${CSS.escape(element.value)}"]`;
  return element?.href ? `[href="${CSS.escape(element.getAttribute("href"))}"]` : null;
}

/** The tiles that pay for what is chosen stand out. */
function showPrice() {
  const chosen = place.querySelector("#trade :checked");
  const { pay = [], tile } = chosen ? JSON.parse(chosen.value) : {};
  for (const own of place.querySelectorAll(".purse > li")) {
    own.classList.toggle("pays", [...pay, tile].includes(Number(own.dataset.tile)));
  }
}

let kept = null;

function keep() {
  const active = place.contains(document.activeElement) ? document.activeElement : null;
  kept = {
    chosen: [...place.querySelectorAll("input:checked")].map(({ value }) => value),
    open: [...place.querySelectorAll("details[open]")].map(({ id }) => id),
    focus: nameOf(active),
    scroll: scrollY,
  };
}

/** Whoever uses the keyboard goes on from there, or from the heading where that cannot take the focus any more. */
function focusOn(part) {
  part?.focus({ preventScroll: true });
  if (!part || document.activeElement !== part) place.querySelector("h2")?.focus({ preventScroll: true });
}

/** Says by the buttons what was lost, as long as it can be tried again: nobody else does. */
function showUnsent() {
  if (unsent && !place.querySelector(`[name="command"][value="${CSS.escape(unsent)}"]`)) unsent = null;
  const words = place.querySelector(".unsent");
  if (words) words.hidden = !unsent;
}

function giveBack() {
  if (!kept) return;
  for (const input of place.querySelectorAll("input")) input.checked = kept.chosen.includes(input.value);
  for (const details of place.querySelectorAll("details")) details.open = kept.open.includes(details.id);
  if (kept.focus) focusOn(place.querySelector(kept.focus));
  if (scrollY !== kept.scroll) scrollTo(0, kept.scroll);
  kept = null;
  showPrice();
  showUnsent();
}

/** `swapped()` is called after each new fragment. */
export function watchExchange(swapped) {
  place.addEventListener("change", showPrice);
  place.addEventListener("reset", () => {
    const chosen = place.querySelector("#trade :checked");
    // The form is emptied after everybody has heard that it will be, and its button goes with what was chosen.
    setTimeout(() => {
      showPrice();
      focusOn(chosen);
    });
  });
  place.addEventListener("htmx:configRequest", ({ detail }) => {
    detail.headers["Midnight-Seq"] = known;
  });
  place.addEventListener("htmx:beforeSend", watchForm);
  place.addEventListener("htmx:beforeSwap", ({ detail }) => {
    if (detail.target !== place) return;
    const seq = Number(detail.xhr.getResponseHeader("Midnight-Seq"));
    // When nothing has moved, only a refusal has something to say. The same fragment again would stop what moves in it.
    const isRefusal = detail.xhr.status === REFUSED && seq === shownSeq();
    if (seq <= shownSeq() && !isRefusal) detail.shouldSwap = false;
    else keep();
  });
  for (const failed of ["htmx:sendError", "htmx:responseError", "htmx:timeout"]) place.addEventListener(failed, goOn);
  place.addEventListener("htmx:afterOnLoad", ({ detail }) => {
    if (detail.target !== place || !detail.successful) return;
    clearTimeout(timer);
    if (shownSeq() < known) return askAgain();
    failures = 0;
  });
  place.addEventListener("htmx:afterSwap", ({ detail }) => {
    if (detail.target !== place) return;
    swapped();
    // When nothing moves any more.
    giveBack();
  });
}

/** Asks for what the table looks like now, unless it is shown already. */
export function refresh(head) {
  known = Math.max(known, head);
  if (shownSeq() >= known) return;
  clearTimeout(timer);
  window.htmx.trigger(place, "moved");
}

/** A form's answer may come to a page that shows another fragment by then: whoever sends it looks after it. */
function watchForm({ detail: { xhr, requestConfig } }) {
  if (requestConfig.verb === "get") return;
  unsent = null;
  showUnsent();
  xhr.addEventListener("loadend", () => {
    if (!isLost(xhr)) return;
    unsent = requestConfig.parameters.command;
    showUnsent();
  });
}

/** Whether nothing of the table came back. */
const isLost = ({ status }) => status === 0 || status >= 500;

/** What the page asks for by itself, and what it says by the buttons, is said nowhere else. */
function goOn(event) {
  const { target, xhr, requestConfig } = event.detail;
  if (target !== place) return;
  const isLook = requestConfig.verb === "get";
  if (isLook || isLost(xhr)) event.stopPropagation();
  if (isLook) askAgain();
}

/** What did not come, or is older than what the page has heard of, is asked for again though nobody moves: later and
    later. */
function askAgain() {
  clearTimeout(timer);
  timer = setTimeout(() => window.htmx.trigger(place, "moved"), Math.min(AGAIN_MS * 2 ** failures, LATEST_MS));
  failures += 1;
}

/** The same once a round, while nobody trades: what is on sale. */
export function refreshRound(round, head) {
  if (Number(place.firstElementChild?.dataset.round) !== round) refresh(head);
}
