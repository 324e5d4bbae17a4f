import { pathOf } from "./entry.ts";

/** Something of the public surface that is not as it was in the last release. */
interface Difference {
  /** The line as it is, or as it was. */
  readonly line: string;
  readonly kind: "new" | "changed" | "removed";
  /** Names of it, of which the changelog has to mention one: its own, and those of the whole that is new or removed with it. */
  readonly names: readonly string[];
}

/** Compares the lines of an area with those of the last release. */
export function compareSurface(before: readonly string[], after: readonly string[]): readonly Difference[] {
  const [old, present] = [byPath(before), byPath(after)];
  const [oldParts, presentParts] = [partsOf(before), partsOf(after)];
  const differences: Difference[] = [];
  for (const [path, line] of present) {
    const kind = old.has(path) ? "changed" : "new";
    if (old.get(path) !== line) differences.push({ line, kind, names: namesOf(line, oldParts) });
  }
  for (const [path, line] of old)
    if (!present.has(path)) differences.push({ line, kind: "removed", names: namesOf(line, presentParts) });
  return differences;
}

/** Returns the differences of which a text mentions no name. A name counts only in code: between backticks. */
export function findUnnamed(differences: readonly Difference[], text: string): readonly Difference[] {
  const words = wordsOfCode(text);
  return differences.filter(({ names }) => !names.some((name) => words.has(name)));
}

function byPath(lines: readonly string[]): ReadonlyMap<string, string> {
  return new Map(lines.map((line) => [keyOf(pathOf(line)), line]));
}

function keyOf(path: readonly string[]): string {
  return path.join("\n");
}

/** Returns every path of the lines with every whole that they are part of. */
function partsOf(lines: readonly string[]): ReadonlySet<string> {
  const parts = new Set<string>();
  for (const line of lines) {
    const path = pathOf(line);
    for (let length = 1; length <= path.length; length++) parts.add(keyOf(path.slice(0, length)));
  }
  return parts;
}

/** Returns the names of a line: that of its last part, and those of each whole that the other side does not have. */
function namesOf(line: string, other: ReadonlySet<string>): readonly string[] {
  const path = pathOf(line);
  const own = path.findLast((part) => nameOf(part) !== "") ?? "";
  const wholes = path.filter((_, index) => !other.has(keyOf(path.slice(0, index + 1))));
  return [...new Set([own, ...wholes].map(nameOf))].filter((name) => name !== "");
}

/** Parts of a path that have no name of their own. */
const NAMELESS = /^(\[\]|\*|(anyOf|oneOf|allOf) \d+|\d{3}|body|[\w.+-]+\/[\w.+*-]+)$/;

/** Returns the word by which a text names a part: the option of `--name <text>`, the last word of `GET /api/keys/{id}`. */
function nameOf(part: string): string {
  if (NAMELESS.test(part)) return "";
  const option = /--[\w-]+/.exec(part);
  if (option !== null) return option[0];
  const words = part.split(/[\s/]+/).filter((word) => word !== "" && !word.startsWith("{"));
  return words.at(-1) ?? "";
}

function wordsOfCode(text: string): ReadonlySet<string> {
  const words = new Set<string>();
  for (const [, code = ""] of text.matchAll(/`([^`\n]+)`/g))
    for (const word of code.split(/[\s/:=,"'(){}[\]<>|]+/)) {
      words.add(word);
      for (const part of word.split(".")) words.add(part);
    }
  return words;
}
