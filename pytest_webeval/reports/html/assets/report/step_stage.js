// The large picture of a step: before or after its action, fitted or in all its pixels, with the mark of the action.

import { button, element } from "./elements.js";
import { loadImage, missingImage } from "./screenshots.js";
import { listSides } from "./step_choice.js";
import { markElement, placeMark } from "./step_mark.js";
import { asArray, escapeHidden, isPresent } from "./texts.js";

const LABELS = { before: "Before", after: "After" };

/** Shows the picture of one step at a time. Zoom stays from step to step. */
export class StepStage {
  element = element("div", { class: "stage" });
  #step = null;
  #name = "";
  #side = "before";
  #isFull = false;
  #sides = Object.keys(LABELS).map((side) => [side, button(LABELS[side], () => this.#turn(side))]);
  #zooms = [
    [false, button("Fit", () => this.#zoom(false))],
    [true, button("100 %", () => this.#zoom(true))],
  ];
  tools = element("span", { class: "more" },
    element("span", { class: "sides", role: "group", "aria-label": "Screenshot" }, this.#sides.map(([, tool]) => tool)),
    element("span", { role: "group", "aria-label": "Zoom" }, this.#zooms.map(([, tool]) => tool)));

  /** Show a step, before its action if there is a picture of that. */
  show(step, name) {
    this.#step = step;
    this.#name = name;
    this.#side = listSides(step)[0] ?? "before";
    this.#draw();
  }

  #turn(side) {
    this.#side = side;
    this.#draw();
  }

  #draw() {
    const sides = listSides(this.#step);
    for (const [side, tool] of this.#sides) tool.setAttribute("aria-pressed", String(side === this.#side));
    this.tools.hidden = !sides.length;
    this.tools.firstChild.hidden = sides.length < 2;
    this.#markZoom();
    if (sides.length) this.element.replaceChildren(this.#createPicture());
    else this.element.replaceChildren(absence(this.#step.problem));
  }

  #createPicture() {
    const name = this.#side === "after" && this.#step.before ? `${this.#name}, afterwards` : this.#name;
    const holder = element("button", { type: "button", class: "shot", onclick: () => this.#zoom(!this.#isFull) });
    const picture = element("div", { class: "picture" }, holder);
    const recordedSize = this.#side === "before" ? asArray(this.#step.size) : [];
    if (recordedSize.length === 2) this.#setSize(picture, recordedSize);
    loadImage(holder, this.#step[this.#side], { alt: escapeHidden(name) }, (image) => {
      if (recordedSize.length !== 2) this.#setSize(picture, [image.naturalWidth, image.naturalHeight]);
      if (this.#isFull) this.#showMark();
    });
    return picture;
  }

  /** Give the picture its size, and the mark its place in it, both in pixels of the screenshot. */
  #setSize(picture, [width, height]) {
    picture.style.setProperty("--width", width);
    picture.style.setProperty("--height", height);
    const place = this.#side === "before" ? placeMark(this.#step.target, [width, height]) : null;
    if (place) picture.append(markElement(place));
  }

  #zoom(isFull) {
    this.#isFull = isFull;
    this.#markZoom();
    if (isFull) this.#showMark();
  }

  #markZoom() {
    for (const [isFull, tool] of this.#zooms) tool.setAttribute("aria-pressed", String(isFull === this.#isFull));
    this.element.classList.toggle("full", this.#isFull);
    if (this.#isFull) this.element.tabIndex = 0; // to scroll by keys
    else this.element.removeAttribute("tabindex");
  }

  /** Scroll to what the agent clicked. */
  #showMark() {
    const mark = this.element.querySelector(".mark-of-point, .mark-of-box");
    if (!mark) return;
    this.element.scrollLeft = mark.offsetLeft + mark.offsetWidth / 2 - this.element.clientWidth / 2;
    this.element.scrollTop = mark.offsetTop + mark.offsetHeight / 2 - this.element.clientHeight / 2;
  }
}

const absence = (problem) => (isPresent(problem)
  ? missingImage("no screenshot: ", problem) : element("span", { class: "no-shot" }, "no screenshot"));
