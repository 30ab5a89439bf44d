/* Art is placed by dragging it onto a card, too: a drop presses the button that does the same. */

const FAR = 6;

const place = document.getElementById("exchange");
let drag = null;

/** The buttons that place this kind of art, by the card they place it on. */
const buttons = (kind) =>
  new Map([...place.querySelectorAll(`button.place[data-art="${kind}"]`)].map((button) => [button.dataset.card, button]));

/** What may be dropped on now, with the worth before and after written on it. */
function light() {
  const fitting = drag?.ghost ? buttons(drag.kind) : new Map();
  for (const card of place.querySelectorAll(".identity.mine [data-card]")) {
    const button = fitting.get(card.dataset.card);
    card.classList.toggle("fits", Boolean(button));
    if (button) card.dataset.worth = button.querySelector("b").textContent;
    else delete card.dataset.worth;
  }
}

const cardAt = ({ clientX, clientY }) => {
  const card = document.elementFromPoint(clientX, clientY)?.closest(".fits");
  return card && place.contains(card) ? card : null;
};

function begin(event) {
  const art = event.target.closest?.(".identity.mine [data-art]");
  if (!art || event.button !== 0 || !buttons(art.dataset.art).size) return;
  // No text is selected on the way.
  event.preventDefault();
  drag = { art, kind: art.dataset.art, x: event.clientX, y: event.clientY, ghost: null };
}

function move(event) {
  if (!drag) return;
  const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
  if (!drag.ghost) {
    if (Math.hypot(x, y) < FAR) return;
    drag.ghost = drag.art.querySelector("svg").cloneNode(true);
    drag.ghost.classList.add("dragged");
    // What is fetched anew on the way takes neither the picture with it nor the finger's events.
    document.body.append(drag.ghost);
    place.setPointerCapture(event.pointerId);
    light();
  }
  drag.ghost.style.translate = `calc(${event.clientX}px - 50%) calc(${event.clientY}px - 50%)`;
  for (const card of place.querySelectorAll(".fits")) card.classList.toggle("over", card === cardAt(event));
}

function end(event) {
  if (!drag) return;
  const { kind, ghost } = drag;
  const card = ghost && event.type === "pointerup" ? cardAt(event) : null;
  ghost?.remove();
  drag = null;
  light();
  if (card) buttons(kind).get(card.dataset.card)?.click();
}

export function watchDrags() {
  place.addEventListener("pointerdown", begin);
  place.addEventListener("htmx:afterSwap", light);
  addEventListener("pointermove", move);
  addEventListener("pointerup", end);
  addEventListener("pointercancel", end);
}
