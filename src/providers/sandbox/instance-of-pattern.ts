/**
 * Generates a short text that matches a regular expression. Patterns come from clients, so they are parsed in one pass and never
 * executed.
 */

/** The longest generated text. Characters. */
const MAX_LENGTH = 1024;

/** The maximum length of a pattern that is parsed, which also bounds its nesting. Characters. */
const MAX_PATTERN = 1024;

/** A match of each class escape. */
const CLASSES: Readonly<Record<string, string>> = { d: "0", w: "a", s: " ", D: "a", W: "-", S: "a" };
const CONTROLS: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", f: "\f", v: "\v" };

/** The candidates for a negated set. */
const STAND_INS = "a0A -_.~";

interface Reader {
  readonly pattern: string;
  at: number;
  /** The repetitions to add at the first quantifier that allows more. */
  extra: number;
}

/**
 * Returns the text with the fewest repetitions, and `extra` more at the first quantifier that allows them. Returns null for unsupported
 * syntax: look-around, back references, boundaries, Unicode properties.
 */
export function makeInstanceOfPattern(pattern: string, extra = 0): string | null {
  if (pattern.length > MAX_PATTERN) return null;
  const reader: Reader = { pattern, at: 0, extra };
  const text = readAlternatives(reader);
  return text !== null && reader.at === pattern.length && text.length <= MAX_LENGTH ? text : null;
}

/** Returns a match of the first alternative, and skips the others. */
function readAlternatives(reader: Reader): string | null {
  const first = readSequence(reader);
  while (first !== null && reader.pattern[reader.at] === "|") {
    reader.at++;
    const { extra } = reader;
    if (readSequence(reader) === null) return null;
    reader.extra = extra;
  }
  return first;
}

function readSequence(reader: Reader): string | null {
  let text = "";
  while (reader.at < reader.pattern.length && !"|)".includes(reader.pattern[reader.at]!)) {
    const atom = readAtom(reader);
    if (atom === null) return null;
    const repeats = readRepeats(reader);
    if (repeats * atom.length + text.length > MAX_LENGTH) return null;
    text += atom.repeat(repeats);
  }
  return text;
}

function readAtom(reader: Reader): string | null {
  const character = reader.pattern[reader.at++]!;
  if (character === "^" || character === "$") return "";
  if (character === ".") return "a";
  if (character === "(") return readGroup(reader);
  if (character === "[") return readSet(reader);
  if (character === "\\") return readEscape(reader);
  return "*+?{".includes(character) ? null : character;
}

function readGroup(reader: Reader): string | null {
  const opening = /^\?(?::|<[A-Za-z_]\w*>)/.exec(reader.pattern.slice(reader.at, reader.at + 64));
  if (opening !== null) reader.at += opening[0].length;
  else if (reader.pattern[reader.at] === "?") return null;
  const text = readAlternatives(reader);
  return reader.pattern[reader.at++] === ")" ? text : null;
}

function readEscape(reader: Reader): string | null {
  const character = reader.pattern[reader.at++] ?? "";
  if (/[A-Za-z0-9]/.test(character)) return CLASSES[character] ?? CONTROLS[character] ?? null;
  return character === "" ? null : character;
}

/** Returns a member of a set `[…]`. */
function readSet(reader: Reader): string | null {
  const negated = reader.pattern[reader.at] === "^";
  if (negated) reader.at++;
  const start = reader.at;
  const ranges: [string, string][] = [];
  while (reader.pattern[reader.at] !== "]" || reader.at === start) {
    if (reader.at >= reader.pattern.length) return null;
    const range = readRange(reader);
    if (range === null) return null;
    ranges.push(range);
  }
  reader.at++;
  if (!negated) return ranges[0]?.[0] ?? null;
  return [...STAND_INS].find((tried) => !ranges.some(([low, high]) => low <= tried && tried <= high)) ?? null;
}

function readRange(reader: Reader): [string, string] | null {
  const escaped = reader.pattern[reader.at] === "\\" ? reader.pattern[reader.at + 1] : undefined;
  const low = readSetMember(reader);
  if (low === null) return null;
  // A class escape counts as one range, which is sufficient for negated sets.
  if (escaped === "d") return ["0", "9"];
  if (escaped === "w") return ["a", "z"];
  const isRange = reader.pattern[reader.at] === "-" && reader.pattern[reader.at + 1] !== "]";
  if (!isRange) return [low, low];
  reader.at++;
  const high = readSetMember(reader);
  return high === null ? null : [low, high];
}

function readSetMember(reader: Reader): string | null {
  const character = reader.pattern[reader.at++];
  if (character === undefined) return null;
  return character === "\\" ? readEscape(reader) : character;
}

function readRepeats(reader: Reader): number {
  const found = /^(?:[*+?]|\{(\d{1,4})(,?)(\d{0,4})\})\??/.exec(
    reader.pattern.slice(reader.at, reader.at + 16),
  );
  if (found === null) return 1;
  reader.at += found[0].length;
  const { least, most } = readBounds(found);
  const added = Math.min(reader.extra, most - least);
  reader.extra -= added;
  return least + added;
}

function readBounds(found: RegExpExecArray): { least: number; most: number } {
  const [sign, least, comma, most] = [found[0][0], Number(found[1]), found[2], found[3]];
  if (sign === "*") return { least: 0, most: MAX_LENGTH };
  if (sign === "+") return { least: 1, most: MAX_LENGTH };
  if (sign === "?") return { least: 0, most: 1 };
  if (comma !== ",") return { least, most: least };
  return { least, most: most === "" ? MAX_LENGTH : Number(most) };
}
