import type { Page } from "playwright-core";

/** Finds amounts of money, ids of models, times and durations in a text. */
const WATCHED = String.raw`[$]\d|\b[a-z][\w-]+\/[a-z0-9][\w.:-]{2,}|\b\d+(\.\d+)? (ms|s|min|h|d|months)\b|\b\d\d:\d\d\b|\b\d{4}-\d\d-\d\d\b`;

/**
 * Lists the numbers, amounts of money, ids of models and times on a page that are cut at the side: by an ellipsis, by the edge of a box, or because a
 * box or the page has to be scrolled sideways to read them.
 */
export function listCutValues(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const watched = new RegExp(${JSON.stringify(WATCHED)});
    const found = new Set();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    // Layouts round to parts of pixels.
    const SLACK = 1;
    const listBoxes = (element) => {
      const boxes = [];
      for (let box = element; box !== null; box = box.parentElement) boxes.push(box);
      return boxes;
    };
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const parent = node.parentElement;
      const isNumber = node.data.trim() !== "" && parent.closest(".number, .figure-value") !== null;
      const isWatched = isNumber || watched.test(node.data);
      if (!isWatched || parent.closest("script, style, option") || !parent.checkVisibility()) continue;
      const boxes = listBoxes(parent);
      // A text for screen readers only is in a box of a pixel.
      if (boxes.some((box) => box.offsetWidth === 1)) continue;
      range.selectNodeContents(node);
      const { left, right } = range.getBoundingClientRect();
      const cutting = boxes.find((box) => {
        const style = getComputedStyle(box);
        if (style.overflowX === "visible" && box !== document.documentElement) return false;
        const edge = box.getBoundingClientRect();
        // An ellipsis stands for what exceeds the content, not the padding.
        const padding = style.textOverflow === "ellipsis" ? Number.parseFloat(style.paddingRight) : 0;
        return right > edge.right - padding + SLACK || left < edge.left - SLACK;
      });
      if (cutting !== undefined)
        found.add(node.data.trim().slice(0, 80) + " (in " + (cutting.className || cutting.tagName) + ")");
    }
    for (const input of document.querySelectorAll("input"))
      if (watched.test(input.value) && input.checkVisibility() && input.scrollWidth > input.clientWidth + SLACK)
        found.add(input.value + " (in a field)");
    return [...found];
  })()`);
}
