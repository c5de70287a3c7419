// Images of recordings: loaded from addresses that the page may follow, and a text where one cannot be shown.

import { imageAddress } from "./addresses.js";
import { bdi, element } from "./elements.js";
import { truncate } from "./texts.js";

/** Put an image into `holder`, or a text if it must not be loaded or cannot be. `onLoad` gets the loaded image. */
export function loadImage(holder, address, attributes, onLoad = () => {}) {
  const source = imageAddress(address);
  if (!source) return holder.replaceChildren(missingImage("screenshot not shown: ", address));
  const image = element("img", { decoding: "async", draggable: "false", ...attributes });
  image.addEventListener("load", () => onLoad(image));
  image.addEventListener("error", () => holder.replaceChildren(missingImage("screenshot not found: ", address)));
  image.src = source;
  holder.replaceChildren(image);
}

/** Load an image that may be asked for next. */
export function preloadImage(address) {
  const source = address ? imageAddress(address) : null;
  if (source) new Image().src = source;
}

export const missingImage = (problem, address) =>
  element("span", { class: "no-shot" }, problem, bdi(truncate(String(address), 100)));
