/* Who uses the keyboard stays where they are when a part of the page is fetched anew. */

/** What finds the same element again in a newer part: by its own name or address, or as the button of its form. */
function nameOf(element) {
  if (element.id) return `#${CSS.escape(element.id)}`;
  if (element.hasAttribute("href")) return `[href="${CSS.escape(element.getAttribute("href"))}"]`;
  const form = element.closest("form[action]");
  const within = form ? `form[action="${CSS.escape(form.getAttribute("action"))}"] ` : "";
  if (element.name) return `${within}[name="${element.name}"][value="${CSS.escape(element.value)}"]`;
  return within ? `${within}${element.localName}` : null;
}

/** Remembers where the focus is; the answer gives it back after the part was swapped, to the part itself at worst. */
export function keepFocus(part) {
  const own = document.activeElement;
  if (!own || own === document.body) return () => {};
  const name = nameOf(own);
  const inside = part.contains(own);
  return () => {
    if (own.isConnected) return;
    const found = name && (inside ? part : document).querySelector(name);
    if (inside && !found) part.tabIndex = -1;
    (found ?? (inside ? part : null))?.focus({ preventScroll: true });
  };
}
