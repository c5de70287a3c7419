// Labels of runs, which are paths. The list has room for the part only in which they differ.

const LABEL_CHARACTERS = 26;

/** How many characters of the labels are directories that all of them begin with. */
export function measureSharedDirectories(labels) {
  let shared = labels[0] ?? "";
  for (const label of labels) while (!label.startsWith(shared)) shared = parentDirectory(shared);
  return shared.lastIndexOf("/") + 1;
}

const parentDirectory = (path) =>
  path.length > 1 ? path.slice(0, path.lastIndexOf("/", path.length - 2) + 1) : "";

/** The label without the directories that all runs share; of a long label its end. */
export function compactLabel(label, sharedLength) {
  const ownPart = label.slice(sharedLength);
  return ownPart.length > LABEL_CHARACTERS ? "…" + ownPart.slice(-LABEL_CHARACTERS) : ownPart;
}
