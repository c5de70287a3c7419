// Which step of a trajectory is shown first, and which one is marked as the one that failed.

import { asArray } from "./texts.js";

/** The position of the step with a number, as an address has it; otherwise -1. */
export const findStep = (steps, number) =>
  (number === "" ? -1 : steps.findIndex(({ index }) => String(index) === String(number)));

/**
 * The position of the step that failed, and what says so; null for a task that did not fail. The first of these:
 * the step that the judge's analysis names as the first that went wrong; the step during which the browser made the
 * request that came nearest to what a failed check expects; the last step, which left what was judged.
 */
export function findFailingStep({ status, rubric, evaluators }, steps) {
  if (!["failure", "error", "partial_match"].includes(status) || !steps.length) return null;
  const judged = findStep(steps, rubric?.verdict?.failure?.first_step ?? "");
  if (judged >= 0) return { position: judged, reason: "first failure that the judge saw" };
  const nearest = findNearestStep(asArray(evaluators), steps);
  if (nearest >= 0) return { position: nearest, reason: "made the nearest event of a failed check" };
  return { position: steps.length - 1, reason: "last step of a task that failed" };
}

function findNearestStep(evaluators, steps) {
  const events = evaluators.filter((result) => result.status !== "success" && result.nearest)
    .map(({ nearest }) => nearest.index);
  const positions = events.map((event) => steps.findIndex((step) => hasEvent(step, event)));
  return positions.find((position) => position >= 0) ?? -1;
}

function hasEvent(step, event) {
  const [first, last] = asArray(step.events);
  return event >= first && event <= last;
}

/** The sides of a step that there are pictures of, first the one that the agent saw. */
export const listSides = (step) => ["before", "after"].filter((side) =>
  step[side] && !(side === "after" && step.after === step.before));
