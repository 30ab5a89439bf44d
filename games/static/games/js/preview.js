/* Beside a moderator's form stands the letter that it would send, as it is filled in now: in [data-preview], the address
 * that writes it. A form may come later, in a dialog. */

const TYPING_MS = 500;
// Of each form, how often it was asked, and the timer that waits for the end of a word.
const asked = new WeakMap();
const typing = new WeakMap();

const placeIn = (form) => form?.querySelector("[data-preview]");

/** Show the letter; of two answers the later question's counts. */
const preview = async (form) => {
  clearTimeout(typing.get(form));
  const mine = (asked.get(form) ?? 0) + 1;
  asked.set(form, mine);
  const place = placeIn(form);
  const answer = await fetch(place.dataset.preview, { method: "POST", body: new FormData(form) }).catch(() => null);
  if (!answer?.ok) return;
  const letter = await answer.text().catch(() => null);
  if (letter !== null && asked.get(form) === mine) htmx.swap(place, letter, { swapStyle: "innerHTML" });
};

document.addEventListener("input", ({ target: { form } }) => {
  if (!placeIn(form)) return;
  clearTimeout(typing.get(form));
  typing.set(form, setTimeout(preview, TYPING_MS, form));
});
document.addEventListener("change", ({ target: { form } }) => {
  if (placeIn(form)) preview(form);
});
// Once for the page, and for what htmx brings.
document.addEventListener("htmx:load", ({ target }) => {
  for (const place of target.querySelectorAll("[data-preview]")) preview(place.closest("form"));
});
