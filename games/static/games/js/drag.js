/* Art is placed by dragging it onto a card, too: a drop presses the button that does the same. */

const FAR = 6;

const place = document.getElementById("exchange");
let drag = null;

/** The buttons that place this kind of art, by the card they place it on. */
const buttons = (kind) =>
  new Map([...place.querySelectorAll(`button.place[data-art="${kind}"]`)].map((button) => [button.dataset.card, button]));

/** What may be dropped on, with the worth before and after written on it. */
function light(on) {
  for (const card of place.querySelectorAll(".identity.mine [data-card]")) {
    const button = on ? drag.cards.get(card.dataset.card) : null;
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
  if (!art || event.button !== 0) return;
  const cards = buttons(art.dataset.art);
  if (!cards.size) return;
  // No text is selected on the way.
  event.preventDefault();
  drag = { art, cards, x: event.clientX, y: event.clientY, ghost: null };
}

function move(event) {
  if (!drag) return;
  const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
  if (!drag.ghost) {
    if (Math.hypot(x, y) < FAR) return;
    drag.ghost = drag.art.querySelector("svg").cloneNode(true);
    drag.ghost.classList.add("dragged");
    place.append(drag.ghost);
    light(true);
  }
  drag.ghost.style.translate = `calc(${event.clientX}px - 50%) calc(${event.clientY}px - 50%)`;
  for (const card of place.querySelectorAll(".fits")) card.classList.toggle("over", card === cardAt(event));
}

function end(event) {
  if (!drag) return;
  const card = drag.ghost && event.type === "pointerup" ? cardAt(event) : null;
  const button = card && drag.cards.get(card.dataset.card);
  drag.ghost?.remove();
  light(false);
  drag = null;
  // The page may have been drawn anew meanwhile: the button of now is pressed, if there still is one.
  if (button) (button.isConnected ? button : buttons(button.dataset.art).get(button.dataset.card))?.click();
}

export function watchDrags() {
  place.addEventListener("pointerdown", begin);
  addEventListener("pointermove", move);
  addEventListener("pointerup", end);
  addEventListener("pointercancel", end);
}
