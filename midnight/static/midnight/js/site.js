/* What every page does: small, and every page works without it. */

// htmx speaks with the token that the forms have.
const token = () => document.cookie.match(/(?:^|; )(?:__Host-)?csrftoken=([^;]*)/)?.[1] ?? "";
document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (detail.verb !== "get") detail.headers["X-CSRFToken"] = token();
});

// A form that came back with errors says so where the keyboard is.
const showErrors = (root) => root.querySelector?.("[data-focus]")?.focus();
showErrors(document);
document.addEventListener("htmx:afterSettle", ({ target }) => showErrors(target));

// A form's errors come as a page with status 422; htmx shows it like any other. The browser's console writes such an answer
// down as a failed request, which nobody sees who plays; a 200 would tell whatever counts, keeps or repeats answers that
// the form was taken.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.xhr.status !== 422) return;
  detail.shouldSwap = true;
  detail.isError = false;
});

// Times as this device has them, and how far its clock is from UTC.
const localise = (root) => {
  for (const time of root.querySelectorAll("time[data-local]")) {
    const moment = new Date(time.dateTime);
    time.textContent = moment.toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
  }
  for (const field of root.querySelectorAll("[data-offset]")) field.value = new Date().getTimezoneOffset();
};
localise(document);
document.addEventListener("htmx:afterSettle", ({ target }) => localise(target));

// A choice that is its own button: <select data-submits>, <input type="radio" data-submits>.
document.addEventListener("change", ({ target }) => {
  if (target.matches("[data-submits]")) target.form.requestSubmit();
});

// A second press while a form is on its way sends it no second time: that would cut the first off, and its answer with it.
const SENT_MS = 3000;
const sent = new WeakMap();
document.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (event.defaultPrevented || !button || event.target.method !== "post") return;
  if (event.timeStamp - (sent.get(button) ?? -Infinity) < SENT_MS) event.preventDefault();
  else sent.set(button, event.timeStamp);
});

// <button id="…" data-steady> turns into its opposite when pressed: a double click presses it once.
const STEADY_MS = 700;
const pressed = new Map();
document.addEventListener(
  "click",
  (event) => {
    const button = event.target.closest?.("[data-steady]");
    if (!button) return;
    if (event.timeStamp - (pressed.get(button.id) ?? -Infinity) >= STEADY_MS) {
      pressed.set(button.id, event.timeStamp);
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
  },
  { capture: true },
);

// Menus close with Escape, with a press elsewhere, and when the keyboard leaves them for anything but a report.
const openMenus = () => document.querySelectorAll("details.menu[open]");
document.addEventListener("keydown", ({ key }) => {
  if (key !== "Escape") return;
  for (const menu of openMenus()) {
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    menu.open = false;
  }
});
for (const left of ["pointerdown", "focusin"]) {
  document.addEventListener(left, ({ target }) => {
    if (target.closest?.(".report-place")) return;
    for (const menu of openMenus()) if (!menu.contains(target)) menu.open = false;
  });
}

// <button data-opens="id"> and <button data-closes="id"> for dialogs; a press beside a dialog closes it too.
document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-opens], [data-closes]");
  if (button?.dataset.opens) document.getElementById(button.dataset.opens).showModal();
  else if (button) document.getElementById(button.dataset.closes).close();
  else if (target.matches("dialog.dialog")) target.close();
});

// The line: what the page knows of it is said at once and taken back when it is true no longer.
const say = (kind, said) => {
  const words = document.querySelector(`.line .${kind}`);
  if (words) words.hidden = !said;
};
const lookAtLine = () => say("cut", !navigator.onLine);
addEventListener("offline", lookAtLine);
addEventListener("online", lookAtLine);
lookAtLine();
// A page that looks by itself looks again.
const looks = ({ verb, triggeringEvent }) => verb === "get" && !triggeringEvent?.isTrusted;
document.addEventListener("htmx:sendError", ({ detail }) => looks(detail.requestConfig) || say("unsent", true));
document.addEventListener("htmx:afterOnLoad", ({ detail }) => {
  say("unsent", false);
  if (!detail.failed) say("fault", false);
});

// What somebody asked for themselves and the server refuses is said in the words of the page that it answers with, until
// the next press or for a while; a page that looks by itself speaks of nothing but the server's own faults.
const READ_MS = 15_000;
let refused = 0;
const refuse = (words) => {
  const place = document.querySelector(".line .refused");
  if (place) place.querySelector("span").textContent = words;
  say("refused", words !== "");
};
document.addEventListener("htmx:responseError", ({ detail: { xhr, requestConfig } }) => {
  const page = new DOMParser().parseFromString(xhr.responseText, "text/html");
  const words = xhr.status < 500 && page.querySelector(".trouble h1 + p")?.textContent;
  if (!words) {
    // A table's page says by itself when what it looks at does not come.
    if (!looks(requestConfig) || !document.querySelector(".gamebar")) say("fault", true);
    return;
  }
  if (requestConfig.triggeringEvent?.isTrusted === false) return;
  refuse(words);
  clearTimeout(refused);
  refused = setTimeout(refuse, READ_MS, "");
});
document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  if (detail.requestConfig.verb !== "get") refuse("");
});

// A page of our own when the line is cut.
navigator.serviceWorker?.register(document.body.dataset.worker);
