// The step viewer: one step at a time with its picture, and the filmstrip of all steps.

import { section } from "./blocks.js";
import { button, element } from "./elements.js";
import { Filmstrip, actionName } from "./filmstrip.js";
import { preloadImage } from "./screenshots.js";
import { findFailingStep, findStep, listSides } from "./step_choice.js";
import { stepDetails } from "./step_details.js";
import { StepStage } from "./step_stage.js";
import { listenToSwipes } from "./swipes.js";
import { asArray } from "./texts.js";

/** Shows the steps of a task. `onStep` is called with the number of the next step, and whether a key is held down. */
export class StepViewer {
  section;
  #steps;
  #network;
  #onStep;
  #failing;
  #position = -1;
  #stage = new StepStage();
  #details = element("div", { class: "step-details" });
  #counter = element("span", { class: "counter", "aria-live": "polite" });
  #previous = button("‹ Previous step", () => this.move(-1));
  #next = button("Next step ›", () => this.move(1));
  #filmstrip;

  constructor(task, network, onStep) {
    this.#steps = asArray(task.steps);
    this.#network = network;
    this.#onStep = onStep;
    this.#failing = findFailingStep(task, this.#steps);
    this.#filmstrip = new Filmstrip(this.#steps, this.#failing, (position) => this.#ask(position, false));
    listenToSwipes(this.#stage.element, (by) => this.move(by));
    const tools = element("div", { class: "tools" },
      element("span", { class: "more" }, this.#previous, this.#next), this.#counter, this.#stage.tools);
    const viewer = element("div", { class: "viewer", role: "group", "aria-label": "Step" },
      tools, element("div", { class: "step" },
        element("div", { class: "pictures" }, this.#stage.element, this.#filmstrip.element), this.#details));
    this.section = section("Steps", viewer);
  }

  /** Show the step of that number; of another one, the step that failed, or else the first. */
  show(number) {
    const named = findStep(this.#steps, number);
    const position = named >= 0 ? named : this.#failing?.position ?? 0;
    if (position === this.#position) return;
    this.#position = position;
    this.#draw(this.#steps[position]);
  }

  /** Ask for the next or the previous step, if there is one. */
  move(by, inPlace = false) {
    this.#ask(this.#position + by, inPlace);
  }

  #ask(position, inPlace) {
    if (this.#steps[position]) this.#onStep(String(this.#steps[position].index), inPlace);
  }

  #draw(step) {
    const failure = this.#failing?.position === this.#position ? this.#failing.reason : null;
    this.#counter.replaceChildren(`Step ${this.#position + 1} of ${this.#steps.length}`,
      failure ? element("span", { class: "failing" }, ` ✕ ${failure}`) : "");
    // A button that were disabled would lose the focus, and with it the keys.
    this.#previous.setAttribute("aria-disabled", String(this.#position === 0));
    this.#next.setAttribute("aria-disabled", String(this.#position === this.#steps.length - 1));
    this.#stage.show(step, `step ${step.index}: ${actionName(step)}`);
    const details = stepDetails(step, this.#network);
    this.#details.replaceChildren(...details.filter(Boolean));
    this.#filmstrip.mark(this.#position);
    for (const by of [1, -1]) preloadImage(pictureOf(this.#steps[this.#position + by]));
  }
}

const pictureOf = (step) => (step ? step[listSides(step)[0]] : null);
