// The result of one evaluator: what differs, what came nearest, and each check.

import { errorNotice, foldedBlock } from "./blocks.js";
import { differenceTable, valuesSideBySide } from "./comparison.js";
import { bdi, button, element } from "./elements.js";
import { eventNumber } from "./network.js";
import { badge } from "./statuses.js";
import { asArray, formatCount, isPresent } from "./texts.js";

export function evaluatorSection(result, network) {
  const checks = asArray(result.assertions);
  const failed = checks.filter(({ status }) => status !== "success");
  const passed = checks.filter(({ status }) => status === "success");
  const differences = asArray(result.differences);
  return element("section", { class: "part evaluator" },
    element("h3", {}, bdi(result.name), " ", badge(result.status)),
    isPresent(result.error) ? errorNotice(bdi(result.error)) : null,
    differenceTable(differences),
    nearestEvent(result.nearest, network),
    isPresent(result.expected) || isPresent(result.actual) ? valuesSideBySide(result, differences) : null,
    failed.length ? checkList(failed) : null,
    passed.length ? foldedBlock(`${formatCount(passed.length, "check")} passed`, checkList(passed)) : null);
}

const checkList = (checks) => element("ul", { class: "checks" }, checks.map(({ status, name, messages }) =>
  element("li", {}, badge(status), " ", element("code", {}, name),
    asArray(messages).map((message) => element("div", { class: "message" }, bdi(message))))));

/** The event that fits best of those that do not fit, with the way to it. */
function nearestEvent(event, network) {
  if (!event) return null;
  return element("p", { class: "nearest" },
    element("b", {}, "Nearest event"), ` ${eventNumber(event.index)} of ${event.of}: `,
    element("code", {}, `${event.method} ${event.url}`), ` → ${event.status} `,
    network ? button("show in network", () => network.open(event.index), "link") : null);
}
