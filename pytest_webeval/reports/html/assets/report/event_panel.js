// The panel of the open event, below the network table.

import { errorNotice } from "./blocks.js";
import { bdi, button, element } from "./elements.js";
import { comparisons, detailParts } from "./event_details.js";
import { evaluatorsOf } from "./event_differences.js";
import { MARKS, formatSeconds } from "./network_rows.js";
import { isPresent } from "./texts.js";

const NOT_EMBEDDED = "A report in one file has no details of requests: open the directory of the report.";
const NO_DETAILS = "This report has no details of this request. It has those of requests that decided the verdict, "
  + "of the last requests that changed something, and of many others of a task that failed.";

/** Shows one event. `load` gives a promise of all details; `actions` are `close`, and `step` by a number of events. */
export class EventPanel {
  element = element("div", { class: "event-panel", id: "event-panel", role: "region", hidden: true, tabindex: "-1" });
  #context;
  #actions;
  #event = null;

  /** `context` has the evaluators, whether the report is embedded, and how many events have details. */
  constructor(context, load, actions) {
    this.#context = { ...context, load };
    this.#actions = actions;
  }

  /** Show an event, or nothing with null. */
  show(event) {
    this.#event = event;
    this.element.hidden = !event;
    this.element.replaceChildren();
    if (!event) return;
    const body = element("div", { class: "event-body" });
    this.element.setAttribute("aria-label", `Event ${event.number}`);
    this.element.append(this.#createBar(event), ...this.#describe(event), body);
    this.#fill(body, event);
  }

  /** Say that there is no such event in the table. */
  showUnknown(number) {
    this.show(null);
    this.element.hidden = false;
    this.element.setAttribute("aria-label", `Event ${number}`);
    this.element.append(this.#createBar(null),
      element("p", {}, `The table has no event ${number}: it lists no static files, and at most 2,000 events.`));
  }

  #createBar(event) {
    const { close, step } = this.#actions;
    return element("div", { class: "tools" },
      element("h4", {}, event ? `Event ${event.number}` : "No such event"),
      event ? [button("Previous request", () => step(-1)), button("Next request", () => step(1))] : null,
      button("Close", close));
  }

  #describe(event) {
    const times = [
      isPresent(formatSeconds(event.seconds)) ? `after ${formatSeconds(event.seconds)} s` : "",
      isPresent(formatSeconds(event.duration)) ? `took ${formatSeconds(event.duration)} s` : "",
      event.type, MARKS[event.mark],
    ].filter(isPresent).join(", ");
    const differs = (field) => evaluatorsOf(this.#context.evaluators, event.position)
      .some(({ differences }) => (differences ?? []).some(({ path }) => path === field));
    const part = (field, text) => element(differs(field) ? "mark" : "span", {}, text);
    return [
      element("p", { class: "request" }, element("code", {}, part("http_method", event.method), " ",
        part("url", event.url)), " → ", part("response_status", event.status)),
      times ? element("p", { class: "quiet" }, bdi(times)) : null,
    ].filter(isPresent);
  }

  #fill(body, event) {
    const compared = comparisons(this.#context.evaluators, event.position);
    const finish = (parts) => this.#event === event && body.replaceChildren(...compared, ...parts);
    if (this.#context.isEmbedded) return finish([element("p", { class: "quiet" }, NOT_EMBEDDED)]);
    if (!this.#context.detailed) return finish([element("p", { class: "quiet" }, NO_DETAILS)]);
    finish([]);
    this.#context.load().then((details) => {
      const own = details.get(event.position);
      finish(own ? detailParts(own, this.#context.evaluators) : [element("p", { class: "quiet" }, NO_DETAILS)]);
    }, (problem) => finish([errorNotice(problem)]));
  }
}
