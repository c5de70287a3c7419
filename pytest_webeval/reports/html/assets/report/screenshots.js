// Screenshots: small in a step, large in a dialog.

import { imageAddress } from "./addresses.js";
import { bdi, byId, element } from "./elements.js";
import { escapeHidden, truncate } from "./texts.js";

/** The screenshot at an address, or a text if it must not be loaded or cannot be. */
export function screenshot(address, name) {
  const source = imageAddress(address);
  if (!source) return missingScreenshot("screenshot not shown: ", address);
  const image = element("img",
    { loading: "lazy", decoding: "async", width: "272", height: "170", alt: escapeHidden(name) });
  const label = escapeHidden(`enlarge ${name}`);
  const onclick = () => enlarge(source, name);
  const holder = element("button", { type: "button", class: "shot", "aria-label": label, onclick }, image);
  image.addEventListener("error", () => holder.replaceWith(missingScreenshot("screenshot not found: ", address)));
  image.src = source;
  return holder;
}

const missingScreenshot = (problem, address) =>
  element("div", { class: "no-shot" }, problem, bdi(truncate(String(address), 100)));

function enlarge(source, name) {
  const dialog = byId("picture");
  dialog.querySelector("figure")?.remove();
  dialog.prepend(element("figure", {},
    element("img", { src: source, alt: escapeHidden(name) }), element("figcaption", {}, name)));
  dialog.showModal();
}
