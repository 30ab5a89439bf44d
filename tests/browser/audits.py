"""What Lighthouse audits besides speed and barriers, found by looking at the page as it stands."""

from playwright.async_api import Page

# A line for each thing that is wrong. Words that say nothing of where a link leads are those of Lighthouse.
AUDIT = """() => {
  const wrong = [];
  const check = (right, what) => right || wrong.push(what);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const shown = (one) => one.outerHTML.replace(/\\s+/g, " ").slice(0, 100);
  const meta = (name) => document.querySelector(`meta[name="${name}"]`)?.content.trim() ?? "";
  const isAddress = (text) => { try { return /^https?:$/.test(new URL(text).protocol); } catch { return false; } };

  check(document.compatMode === "CSS1Compat", "it is drawn in quirks mode");
  check(document.characterSet === "UTF-8", "its letters are not UTF-8");
  check(document.title.trim(), "it has no title");
  check(meta("description"), "it has no description");
  check(/width=device-width/.test(meta("viewport")), "it does not say how wide a phone is to take it");
  check(!/user-scalable=no|maximum-scale=[0-4]/.test(meta("viewport")), "nobody can enlarge it");
  check(new Intl.Locale(document.documentElement.lang).language.length === 2, "its language is none");

  for (const link of all('link[rel="canonical"], link[rel="alternate"][hreflang]')) {
    check(isAddress(link.getAttribute("href")), `no whole address: ${shown(link)}`);
    const lang = link.hreflang;
    check(!lang || lang === "x-default" || /^[a-z]{2}(-[A-Z]{2})?$/.test(lang), `no language: ${shown(link)}`);
  }
  check(all('link[rel="canonical"]').length <= 1, "it has two canonical addresses");

  const empty = new Set(["click here", "click this", "go", "here", "information", "learn more", "more", "more info",
    "more information", "right here", "read more", "see more", "start", "this", "hier", "mehr", "weiter", "weiterlesen",
    "ici", "cliquez ici", "en savoir plus", "plus", "qui", "clicca qui", "leggi di più", "altro", "aquí", "clic aquí",
    "más", "leer más", "ver más", "aqui", "clique aqui", "mais", "ler mais", "saiba mais"]);
  for (const link of all("a:not(svg a)")) {
    const href = link.getAttribute("href");
    check(href !== null && !/^(javascript:|mailto:$)/.test(href), `it leads nowhere: ${shown(link)}`);
    check(!empty.has(link.textContent.trim().toLowerCase()), `its words do not say where it leads: ${shown(link)}`);
  }

  for (const image of all("img")) {
    check(image.hasAttribute("alt"), `no words for it: ${shown(image)}`);
    check(image.hasAttribute("width") && image.hasAttribute("height"), `no size: ${shown(image)}`);
    const { naturalWidth, naturalHeight, clientWidth, clientHeight } = image;
    const isDrawn = naturalWidth && clientWidth && getComputedStyle(image).objectFit === "fill";
    const ratio = isDrawn ? (naturalWidth / naturalHeight) / (clientWidth / clientHeight) : 1;
    check(Math.abs(ratio - 1) < 0.05, `stretched: ${shown(image)}`);
  }

  for (const field of all("input:not([type=hidden])")) {
    const paste = new ClipboardEvent("paste", { cancelable: true, bubbles: true });
    check(field.dispatchEvent(paste), `nothing can be pasted: ${shown(field)}`);
  }

  let letters = 0, small = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const length = node.data.trim().length;
    if (!length || !node.parentElement.checkVisibility() || node.parentElement.closest("script, style, svg")) continue;
    letters += length;
    if (parseFloat(getComputedStyle(node.parentElement).fontSize) < 12) small += length;
  }
  check(small <= 0.4 * letters, "most of it is written too small to read on a phone");
  return wrong;
}"""
# A page asks for nothing of the kind before it was touched.
ASKS_FOR_NOTHING = """
for (const name of ["getCurrentPosition", "watchPosition"]) {
  if (navigator.geolocation) navigator.geolocation[name] = () => console.error(`it asks for ${name}`);
}
if (window.Notification) Notification.requestPermission = () => console.error("it asks for notifications");
"""


async def findings(page: Page) -> list[str]:
    """One line for each audit that the page as it stands fails."""
    found: list[str] = await page.evaluate(AUDIT)
    return found
