/* A report is written in a dialog, at the moment that the page shows: a replay says in `data-seq` which that is. */

document.addEventListener("click", (event) => {
  const flag = event.target.closest("[data-report]");
  if (!flag || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const place = document.getElementById("report");
  const address = new URL(flag.href);
  if (place.dataset.seq) address.searchParams.set("seq", place.dataset.seq);
  place.replaceChildren();
  place.showModal();
  htmx.ajax("GET", address.pathname + address.search, { target: place, swap: "innerHTML" });
});
