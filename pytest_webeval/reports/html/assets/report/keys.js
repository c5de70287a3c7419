// The keys of the page.

import { byId } from "./elements.js";

const TEXT_FIELDS = "input:not([type=checkbox]), select, textarea, [contenteditable]";
const SCROLLED_BOXES = ".wide, .stage, pre";

/** Listen to keys. `page` is what they act on. */
export function listenToKeys(page) {
  const { list, view } = page;
  const pageKeys = {
    j: () => page.step(1),
    k: () => page.step(-1),
    o: () => page.openActive(),
    "/": () => byId("search").focus(),
    "?": () => byId("keys").showModal(),
    e: () => page.network?.openMarked(),
    f: () => page.network?.focusFilter(),
    m: () => page.copyMarkdown(),
    Escape: () => page.closeInnermost(),
  };
  const listKeys = {
    ArrowDown: () => list.moveTo(list.active + 1),
    ArrowUp: () => list.moveTo(list.active - 1),
    Home: () => list.moveTo(0),
    End: () => list.moveTo(list.rows.length - 1),
    PageDown: () => list.movePages(1),
    PageUp: () => list.movePages(-1),
    Enter: () => page.openActive(),
  };
  const stepKeys = {
    ArrowRight: (isRepeated) => page.moveStep(1, isRepeated),
    ArrowLeft: (isRepeated) => page.moveStep(-1, isRepeated),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.target.matches(TEXT_FIELDS)) return leaveField(event);
    if (event.key === "Escape" && !view.state.task) return;
    const isInList = event.target === byId("list");
    const action = (isInList ? findAction(listKeys, event.key) : null)
      ?? (page.hasSteps && !scrollsSideways(event.target) ? findAction(stepKeys, event.key) : null)
      ?? findAction(pageKeys, event.key);
    if (!action) return;
    event.preventDefault();
    action(event.repeat);
  });
}

/** While somebody types, keys are text; only Escape leaves the field. */
function leaveField(event) {
  if (event.key === "Escape") event.target.blur();
}

/** Whether the arrow keys are of use to a box itself. */
const scrollsSideways = (box) => box.matches(SCROLLED_BOXES) && box.scrollWidth > box.clientWidth;

/** The action of a key, also of one that is named like a property of all objects. */
export const findAction = (actions, key) => (Object.hasOwn(actions, key) ? actions[key] : null);
