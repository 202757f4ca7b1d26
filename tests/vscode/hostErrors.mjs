// Errors in the log of the extension host, which runs the editor's own extensions beside ours.

/** Errors of known causes that are no fault of anybody's here: of a part that is not built, and of a window that is reloaded meanwhile. */
const KNOWN = /native-watchdog|Unable to refresh tree view .*: Canceled$/m;
const OURS = /kernel.?scientist/i;

/** The entries of a log that count as errors: all but those that are the editor's own, installed in a folder. */
export function errorsIn(log, installation) {
  const entries = log.split(/\n(?=\d{4}-\d\d-\d\d )/);
  return entries.filter((entry) => /\[error\]/.test(entry) && !KNOWN.test(entry) && !isOfTheEditor(entry, installation));
}

/** Whether an error was raised within the editor alone: each place of its stack is the editor's or Node's, and nothing in it names us. */
function isOfTheEditor(entry, installation) {
  const places = entry.split("\n").filter((line) => /^\s+at /.test(line));
  const isTheirs = (place) => place.includes(installation);
  // What is installed may lie in a folder of ours.
  return places.some(isTheirs) && places.every((place) => isTheirs(place) || /\bnode:|<anonymous>/.test(place)) && !OURS.test(entry.replaceAll(installation, ""));
}
