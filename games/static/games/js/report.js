/* A report is written in a dialog, at the moment that the page shows: a replay says in `data-seq` which that is. What else
 * has its form there says in `data-report` what the dialog is called. */

const place = document.getElementById("report");
const called = place.getAttribute("aria-label");

document.addEventListener("click", (event) => {
  const flag = event.target.closest("[data-report]");
  if (!flag || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const address = new URL(flag.href);
  if (place.dataset.seq) address.searchParams.set("seq", place.dataset.seq);
  place.setAttribute("aria-label", flag.dataset.report || called);
  place.replaceChildren();
  place.showModal();
  // Nobody stays before an empty dialog: what went wrong stands behind it.
  const unlessEmpty = () => place.hasChildNodes() || place.close();
  const asked = htmx.ajax("GET", address.pathname + address.search, { target: place, swap: "innerHTML" });
  asked.then(unlessEmpty, unlessEmpty);
});

// Whoever is to sign in first does so on a page, not in here.
place.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const { pathname } = new URL(detail.xhr.responseURL);
  if (pathname === new URL(detail.pathInfo.finalRequestPath, location).pathname) return;
  detail.shouldSwap = false;
  location.assign(detail.xhr.responseURL);
});
