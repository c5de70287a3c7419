// The parts of a list of very many runs: which of them have the rows of a view state, and where a run is.

import { formatNumber } from "./texts.js";

const LISTED_KINDS = ["group", "site"]; // filters whose values have lists of their own, the smallest lists first

/** A map of the lists by what their rows have in common. */
export const mapLists = (lists) =>
  new Map(lists.map((list) => [nameList(list.kind, list.value, list.status), list]));

/** The name of a list. */
export const nameList = (kind, value, status) => JSON.stringify([kind, value, status]);

/** The lists with the rows that the filters select, and the keys of the filters for which no other rows are in them. */
export function selectLists(listsByName, statuses, filters) {
  const isListed = (kind) => (filters.get(kind) ?? []).length > 0 && filters.get(kind).every((value) =>
    statuses.some((status) => listsByName.has(nameList(kind, value, status))));
  const kind = LISTED_KINDS.find(isListed) ?? "all";
  const values = filters.get(kind) ?? [""];
  const chosen = filters.get("status") ?? statuses;
  const names = statuses.filter((status) => chosen.includes(status))
    .flatMap((status) => values.map((value) => nameList(kind, value, status)));
  return {
    kind,
    lists: names.map((name) => listsByName.get(name)).filter(Boolean),
    keys: ["status", ...(kind === "all" ? [] : [kind])],
  };
}

/** Pages of the lists, each with its first position, its number of rows and its parts: small parts share a page. */
export function groupPages(lists, partRows) {
  const pages = [];
  for (const { parts, count } of lists)
    parts.forEach((part, position) => addPart(pages, part, Math.min(partRows, count - position * partRows), partRows));
  return pages;
}

function addPart(pages, part, count, partRows) {
  const last = pages.at(-1);
  if (last && last.count + count <= 2 * partRows) {
    last.parts.push(part);
    last.count += count;
  } else pages.push({ start: last ? last.start + last.count : 0, count, parts: [part] });
}

/** The number of the page of a part in the address, which counts from 1; else that of a position. */
export function findPage(pages, part, position) {
  const number = Number(part) - 1;
  if (part && Number.isInteger(number) && number >= 0 && number < pages.length) return number;
  return Math.max(0, pages.findIndex(({ start, count }) => position >= start && position < start + count));
}

/** The position of a run in the lists of all runs from its position in that of its status. */
export function findPosition(lists, status, position) {
  const before = lists.findIndex((list) => list.status === status);
  return before < 0 ? -1 : lists.slice(0, before).reduce((sum, { count }) => sum + count, position);
}

/** "4,001–8,000". */
export const formatRange = ({ start, count }) => `${formatNumber(start + 1)}–${formatNumber(start + count)}`;

/** The position of the last part that begins before a value or, with `orEqual`, with it; 0 without any. */
export function findPart(firstValues, value, compare, orEqual) {
  let low = 0;
  let high = firstValues.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const order = compare(firstValues[middle], value);
    if (order < 0 || (orEqual && order === 0)) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/** The order of texts by code points, which is not that of the units of JavaScript's texts. */
export function compareCodePoints(first, second) {
  const length = Math.min(first.length, second.length);
  for (let position = 0; position < length; position++) {
    const difference = rankUnit(first.charCodeAt(position)) - rankUnit(second.charCodeAt(position));
    if (difference) return difference;
  }
  return first.length - second.length;
}

/** A surrogate belongs to a character beyond all that have one unit. */
const rankUnit = (unit) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

/** The order of task ids in a summary: numbers, then texts. */
export function compareTaskIds(first, second) {
  if (typeof first !== typeof second) return typeof first === "number" ? -1 : 1;
  return typeof first === "number" ? first - second : compareCodePoints(first, second);
}

/** The task ids that a text may mean: the text, and the number that is written so. */
export const listTaskIds = (text) =>
  /^-?\d{1,15}$/.test(text) && String(Number(text)) === text ? [Number(text), text] : [text];
