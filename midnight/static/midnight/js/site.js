/* What every page does: small, and each page works without it. */

const cookie = (name) => document.cookie.match(`(?:^|; )${name}=([^;]*)`)?.[1] ?? "";

// htmx speaks with the token that the forms have.
document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (detail.verb !== "get") detail.headers["X-CSRFToken"] = cookie("csrftoken");
});

// A form that came back with errors says so where the keyboard is.
const showErrors = (root) => root.querySelector("[data-focus]")?.focus();
showErrors(document);
document.addEventListener("htmx:afterSettle", ({ detail }) => showErrors(detail.elt));

// Menus close with Escape and with a press elsewhere.
const openMenus = () => document.querySelectorAll("details.menu[open]");
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of openMenus()) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});
document.addEventListener("pointerdown", (event) => {
  for (const menu of openMenus()) if (!menu.contains(event.target)) menu.open = false;
});

// <button data-opens="id"> and <button data-closes="id"> for dialogs.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-opens], [data-closes]");
  if (!button) return;
  if (button.dataset.opens) document.getElementById(button.dataset.opens).showModal();
  else document.getElementById(button.dataset.closes).close();
});
