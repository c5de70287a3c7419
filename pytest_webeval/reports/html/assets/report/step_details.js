// What a step says in words: what the agent did, thought and saw, and what the browser requested meanwhile.

import { factList } from "./blocks.js";
import { bdi, button, element } from "./elements.js";
import { actionName } from "./filmstrip.js";
import { eventNumber } from "./network.js";
import { asArray, formatCount, isPresent, toText, truncate } from "./texts.js";

const UNFOLDED_CHARACTERS = 600;
const MOST_REQUESTS = 30; // of a step with more, the network table has the rest

/** The action, its arguments, thought, observation, URL and requests of a step. Without some of them, the others. */
export const stepDetails = (step, network) => [
  element("h4", {}, element("span", { class: "quiet" }, step.index, " "), bdi(actionName(step))),
  factList([
    ["Arguments", hasMembers(step.arguments) ? foldedText(toText(step.arguments), "code") : null],
    ["Thought", isPresent(step.thought) ? foldedText(step.thought, "bdi") : null],
    ["Observation", isPresent(step.observation) ? foldedText(step.observation, "bdi") : null],
    ["URL", isPresent(step.url) ? foldedText(step.url, "code") : null],
    ["Requests", stepRequests(asArray(step.events), network)],
  ]),
];

const hasMembers = (value) => isPresent(value) && Object.keys(value).length > 0;

/** The requests from the first to the last event of a step, as ways to their rows in the network table. */
function stepRequests(events, network) {
  if (events.length !== 2 || !network) return null;
  const [first, last] = events;
  const listed = network.eventsBetween(first, last);
  return [
    button(formatEvents(first, last), () => network.pointAt(first, last), "link"),
    element("ul", { class: "requests" }, listed.slice(0, MOST_REQUESTS).map((event) => requestItem(event, network))),
    listed.length > MOST_REQUESTS
      ? element("div", { class: "quiet" }, `${formatCount(listed.length - MOST_REQUESTS, "request")} more`) : null,
  ];
}

const requestItem = ({ position, method, url, status }, network) =>
  element("li", {},
    button(`${eventNumber(position)}`, () => network.open(position), "link"), " ",
    element("code", {}, `${method} ${truncate(String(url), 200)}`),
    isPresent(status) ? ` → ${status}` : "");

export const formatEvents = (first, last) => `events ${eventNumber(first)}–${eventNumber(last)}`;

function foldedText(value, tag) {
  const text = String(value);
  if (text.length <= UNFOLDED_CHARACTERS) return element(tag, {}, text);
  const summary = element("summary", {}, element(tag, {}, text.slice(0, 200), "…"));
  return element("details", {}, summary, element(tag, {}, text));
}
