// The mark on a screenshot: where the agent clicked, or the box of the element that it used.

import { element } from "./elements.js";
import { asArray } from "./texts.js";

/**
 * Left, top, width and height in percent of a picture of that size, a point without width and height; null unless the
 * target is four numbers and lies inside. Of a box that is partly outside, the part inside.
 */
export function placeMark(target, [pictureWidth, pictureHeight]) {
  const numbers = asArray(target);
  if (numbers.length !== 4 || !numbers.every(Number.isFinite) || !(pictureWidth > 0 && pictureHeight > 0)) return null;
  const [left, top, width, height] = numbers;
  const [start, across] = clip(left, width, pictureWidth) ?? [];
  const [above, down] = clip(top, height, pictureHeight) ?? [];
  return start === undefined || above === undefined ? null : { left: start, top: above, width: across, height: down };
}

/** Start and length of the part of a line that is inside, in percent; null if none is. */
function clip(start, length, whole) {
  const first = Math.max(0, start);
  const end = Math.min(whole, start + length);
  return first > end || first >= whole ? null : [100 * first / whole, 100 * (end - first) / whole];
}

/** The element of a mark, which lies above the picture. */
export function markElement({ left, top, width, height }) {
  const mark = element("span", { class: width && height ? "mark-of-box" : "mark-of-point", "aria-hidden": "true" });
  const position = { left, top, ...(width && height ? { width, height } : {}) };
  for (const [name, percent] of Object.entries(position)) mark.style[name] = `${percent}%`;
  return mark;
}
