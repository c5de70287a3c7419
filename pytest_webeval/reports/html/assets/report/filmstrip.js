// The filmstrip: a small picture of each step, of which those in sight are loaded.

import { bdi, element } from "./elements.js";
import { loadImage } from "./screenshots.js";
import { listSides } from "./step_choice.js";
import { escapeHidden, truncate } from "./texts.js";

/** The steps as buttons in a row. `onPick` gets the position of the one that was pressed. */
export class Filmstrip {
  element = element("ol", { class: "filmstrip", "aria-label": "Steps", "data-start": true });
  #buttons;
  #current = 0;
  #observer = new IntersectionObserver((entries) => entries.forEach((entry) => this.#load(entry)));
  #addresses = new Map();

  constructor(steps, failing, onPick) {
    this.#buttons = steps.map((step, position) =>
      this.#createButton(step, failing?.position === position ? failing.reason : null, () => onPick(position)));
    this.element.append(...this.#buttons.map((thumb) => element("li", {}, thumb)));
    this.element.addEventListener("attached", () => this.#scrollToCurrent());
  }

  /** Mark the current step and scroll the strip to it. Of all buttons, the key Tab reaches that one. */
  mark(position) {
    this.#buttons[this.#current].removeAttribute("aria-current");
    this.#buttons[this.#current].tabIndex = -1;
    this.#current = position;
    this.#buttons[position].setAttribute("aria-current", "step");
    this.#buttons[position].tabIndex = 0;
    this.#scrollToCurrent();
  }

  #createButton(step, failure, onclick) {
    const label = `step ${step.index}: ${actionName(step)}${failure ? `, failing step: ${failure}` : ""}`;
    const picture = element("span", { class: "thumb-picture" });
    const [side] = listSides(step);
    if (side) {
      this.#addresses.set(picture, step[side]);
      this.#observer.observe(picture);
    }
    return element("button",
      { type: "button", class: failure ? "thumb failing" : "thumb", tabindex: "-1", onclick,
        "aria-label": escapeHidden(label), title: escapeHidden(label) },
      picture,
      element("span", { class: "caption" },
        element("span", { class: "step-number" }, failure ? "✕ " : "", step.index), " ", bdi(actionName(step))));
  }

  #load({ target, isIntersecting }) {
    if (!isIntersecting) return;
    this.#observer.unobserve(target);
    loadImage(target, this.#addresses.get(target), { alt: true }); // an empty one: the button has the name
  }

  /** `scrollIntoView` would move the page as well. */
  #scrollToCurrent() {
    const { parentElement } = this.#buttons[this.#current];
    this.element.scrollLeft = parentElement.offsetLeft + (parentElement.offsetWidth - this.element.clientWidth) / 2;
  }
}

export const actionName = (step) => truncate(String(step.action || "no action"), 80);
