"""What does not fit on a page as it stands, found by measuring every visible text and box."""

from typing import Any

from playwright.async_api import Page, ViewportSize

# A phone, a tablet, a laptop.
SIZES = (
    ViewportSize(width=360, height=740),
    ViewportSize(width=768, height=1024),
    ViewportSize(width=1280, height=800),
)
# A longer word, such as a hash, may be broken; every name and every word of ours is shorter.
LONGEST_WORD = 20

MISFITS = """(longestWord) => {
  const root = document.documentElement;
  const edge = root.clientWidth;
  const found = new Set();
  const shown = (text) => text.replace(/\\s+/g, " ").trim().slice(0, 60);
  if (root.scrollWidth > edge) found.add(`the page is ${root.scrollWidth - edge} px too wide`);

  const styles = new Map();
  const styleOf = (one) => styles.get(one) ?? styles.set(one, getComputedStyle(one)).get(one);
  const boxes = new Map();
  const boxOf = (one) => boxes.get(one) ?? boxes.set(one, one.getBoundingClientRect()).get(one);
  const verdicts = new Map();
  // Text for screen readers only is clipped to nothing.
  const isHidden = (one) => {
    if (!one || one === document.body) return false;
    if (!verdicts.has(one)) verdicts.set(one, styleOf(one).clipPath === "inset(50%)" || isHidden(one.parentElement));
    return verdicts.get(one);
  };
  const isFree = (one) => ["absolute", "fixed"].includes(styleOf(one).position);
  const scrolls = (one) => /auto|scroll/.test(styleOf(one).overflowX);
  const isCut = (one) => /hidden|clip/.test(styleOf(one).overflowX) && styleOf(one).textOverflow !== "ellipsis";

  // Every box lies within the box around it, unless that one scrolls or it hangs over on purpose.
  const mayHang = (one, around) => isFree(one) || parseFloat(styleOf(one).marginRight) < 0 || scrolls(around) ||
    styleOf(around).textOverflow === "ellipsis" || ["inline", "contents"].includes(styleOf(around).display);
  for (const one of document.body.querySelectorAll("*")) {
    const around = one.parentElement;
    if (around.closest("svg") || !one.checkVisibility({visibilityProperty: true}) || isHidden(one)) continue;
    if (styleOf(one).display === "inline" || boxOf(one).width < 2) continue;
    const over = Math.round(boxOf(one).right - boxOf(around).right);
    if (over > 1 && !mayHang(one, around)) found.add(`${over} px over the box around it: ${shown(one.outerHTML)}`);
    const cut = isCut(one) && one.scrollWidth > one.clientWidth + 1 && one.innerText;
    if (cut) found.add(`cut off: ${shown(one.innerText)}`);
  }

  const lines = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  const rowsOf = (rects) => {
    const tops = [];
    for (const rect of rects) {
      if (rect.width && !tops.some((top) => Math.abs(top - rect.top) < rect.height / 2)) tops.push(rect.top);
    }
    return tops.length;
  };
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const one = node.parentElement;
    if (!node.data.trim() || one.closest("script, style, template, noscript, option, svg, pre")) continue;
    if (!one.checkVisibility({visibilityProperty: true}) || isHidden(one)) continue;
    range.selectNodeContents(node);
    const rects = [...range.getClientRects()].filter((rect) => rect.width && rect.height);
    if (rects.length > 1 && !one.closest("code")) {
      for (const {0: word, index} of node.data.matchAll(/[^\\s\\-\\u2010-\\u2015\\u00ad/]+/g)) {
        if (word.length > longestWord) continue;
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const pieces = [...range.getClientRects()];
        // In the largest letters the longest name is wider than a phone.
        const fitsNowhere = pieces.reduce((sum, rect) => sum + rect.width, 0) > 0.75 * edge;
        if (rowsOf(pieces) > 1 && !fitsNowhere) found.add(`broken: ${word} in ${shown(node.data)}`);
      }
    }
    // What is written lies within the page and within every box around it.
    for (const rect of rects) {
      for (let box = one; box && box !== document.body; box = box.parentElement) {
        if (scrolls(box) || styleOf(box).textOverflow === "ellipsis") { rect.isLoose = true; break; }
        if (styleOf(box).display === "inline" || styleOf(box).display === "contents") continue;
        if (rect.right > boxOf(box).right + 1 || rect.left < boxOf(box).left - 1) {
          found.add(`written over its edge: ${shown(node.data)} in ${box.outerHTML.slice(0, 60)}`);
          break;
        }
        if (isFree(box)) { rect.isLoose = true; break; }
      }
      if (!rect.isLoose) lines.push([rect, node]);
    }
  }

  // No text lies on another.
  lines.sort(([a], [b]) => a.top - b.top);
  lines.forEach(([a, first], number) => {
    for (let next = number + 1; next < lines.length && lines[next][0].top < a.bottom - 4; next += 1) {
      const [b, second] = lines[next];
      if (first === second || Math.min(a.right, b.right) - Math.max(a.left, b.left) < 3) continue;
      if (Math.min(a.bottom, b.bottom) - b.top < 6) continue;
      found.add(`${shown(first.data)} lies on ${shown(second.data)}`);
    }
  });
  return [...found];
}"""


async def misfits(page: Page, sizes: tuple[ViewportSize, ...] = SIZES) -> list[str]:
    """One line for each thing that is wider than the page or its box, covered, cut off or broken within a word."""
    found: list[str] = []
    for size in sizes:
        await page.set_viewport_size(size)
        here: list[Any] = await page.evaluate(MISFITS, LONGEST_WORD)
        found += [f"{page.url} at {size['width']} px: {what}" for what in here]
    return found
