// The trajectory: what the agent saw, did and thought at each step.

import { section } from "./blocks.js";
import { bdi, button, element } from "./elements.js";
import { eventNumber } from "./network.js";
import { screenshot } from "./screenshots.js";
import { asArray, escapeHidden, formatCount, isPresent, toText, truncate } from "./texts.js";

const FIRST_STEPS = 300; // of a longer trajectory the page shows these at first
const UNFOLDED_CHARACTERS = 240;

export function stepsSection(steps, network) {
  if (!steps.length) return null;
  const cards = (start, end) =>
    steps.slice(start, end).map((step, offset) => stepCard(step, steps[start + offset + 1], network));
  const strip = element("ol", { class: "filmstrip", tabindex: "0", "aria-label": "Steps" });
  strip.append(...cards(0, FIRST_STEPS));
  const hiddenCount = steps.length - FIRST_STEPS;
  const more = button(`show ${formatCount(hiddenCount, "step")} more`, () => {
    strip.append(...cards(FIRST_STEPS, steps.length));
    more.remove();
  });
  return section("Trajectory",
    element("p", { class: "tools quiet" }, formatCount(steps.length, "step"), hiddenCount > 0 ? more : null), strip);
}

function stepCard(step, nextStep, network) {
  const action = step.action ?? "no action";
  const name = `step ${step.index}: ${truncate(String(action), 80)}`;
  return element("li", { class: "step" },
    screenshots(step, nextStep, name),
    element("h4", {}, element("span", { class: "quiet" }, step.index, " "), bdi(action)),
    isPresent(step.arguments) && Object.keys(step.arguments).length
      ? element("div", { class: "arguments" }, foldedText(toText(step.arguments), "code")) : null,
    isPresent(step.thought) ? element("div", { class: "thought" }, foldedText(step.thought, "bdi")) : null,
    isPresent(step.observation) ? element("div", { class: "observation" }, foldedText(step.observation, "bdi")) : null,
    isPresent(step.url) ? stepAddress(step.url) : null,
    eventsButton(asArray(step.events), network));
}

function screenshots(step, nextStep, name) {
  const after = ownAfter(step, nextStep);
  if (!isPresent(step.before) && !after) return element("div", { class: "no-shot" }, "no screenshot");
  return [
    isPresent(step.before) ? screenshot(step.before, name) : null,
    after ? screenshot(after, `${name}, afterwards`) : null,
  ];
}

/** The screenshot after a step, or null if it would be seen twice: before this step, or before the next one. */
export function ownAfter({ before, after }, nextStep) {
  if (!isPresent(after) || after === before) return null;
  return !isPresent(before) || !nextStep || nextStep.before !== after ? after : null;
}

const stepAddress = (url) =>
  element("div", { class: "at" }, element("code", { title: truncate(escapeHidden(url), 500) }, truncate(url, 120)));

function eventsButton(events, network) {
  if (events.length !== 2 || !network) return null;
  const [first, last] = events;
  return button(formatEvents(first, last), () => network.pointAt(first, last), "link");
}

export const formatEvents = (first, last) => `events ${eventNumber(first)}–${eventNumber(last)}`;

function foldedText(value, tag) {
  const text = String(value);
  if (text.length <= UNFOLDED_CHARACTERS) return element(tag, {}, text);
  const summary = element("summary", {}, element(tag, {}, text.slice(0, 200), "…"));
  return element("details", {}, summary, element(tag, {}, text));
}
