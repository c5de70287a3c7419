// Where a result comes from: its files, its versions and its checksums.

import { localAddress } from "./addresses.js";
import { factList, foldedBlock, section } from "./blocks.js";
import { bdi, element } from "./elements.js";
import { asArray, isPresent } from "./texts.js";

/** The files, and the versions and checksums. */
export function aboutSections(task, { isEmbedded }) {
  const links = asArray(task.links).map((link) => fileItem(link, isEmbedded));
  const about = aboutFacts(task.about);
  const checksums = aboutFacts(task.checksums);
  return [
    links.length ? section("Files", element("ul", { class: "links" }, links)) : null,
    about || checksums
      ? section("About this result", about, checksums ? foldedBlock("Checksums", checksums) : null) : null,
  ];
}

/** A file as a link. A page in one file is sent without the files, so it names them only. */
const fileItem = ({ label, href }, isEmbedded) => localAddress(href) && !isEmbedded
  ? element("li", {}, element("a", { href, target: "_blank", rel: "noopener noreferrer" }, bdi(label)))
  : element("li", {}, bdi(label));

const aboutFacts = (object) =>
  factList(flattenObject(object).map(([name, value]) => [name, element("code", {}, value)]));

/** Names and values of an object; those of an object in it as "outer: inner". */
export const flattenObject = (object) => Object.entries(object ?? {})
  .filter(([, value]) => isPresent(value))
  .flatMap(([name, value]) => typeof value === "object"
    ? flattenObject(value).map(([inner, innerValue]) => [`${name}: ${inner}`, innerValue])
    : [[name, value]]);
