import type { NameSet } from "../collections/name-sets.ts";
import { type ComposedBytes, type Splice, spliceBytes } from "../text/composed-bytes.ts";
import { endOfString, isSpace, type JsonNode, tryStringOf } from "./scan.ts";

export type { Splice } from "../text/composed-bytes.ts";

/** The parts that are omitted from a body: whole members, and splices for other parts. */
export interface LeftOut {
  readonly removed: ReadonlySet<string>;
  readonly splices: readonly Splice[];
}

/**
 * Returns a copy of the bytes with the splices applied, or the input if there are none. Splices may be in any order. Several at one
 * position are inserted in the given order. A splice within another one, such as a change of a removed member, is dropped.
 */
export function applySplices(bytes: Buffer, splices: readonly Splice[]): Buffer {
  return splices.length === 0 ? bytes : spliceBytes(bytes, inOrder(splices)).join();
}

/**
 * Applies splices as `applySplices` does, but only when the result is sent. The result shares the unchanged bytes of the input, which must
 * not be modified.
 */
export function spliceBody(bytes: Buffer, splices: readonly Splice[]): Buffer | ComposedBytes {
  return splices.length === 0 ? bytes : spliceBytes(bytes, inOrder(splices));
}

function inOrder(splices: readonly Splice[]): readonly Splice[] {
  return areInOrder(splices) ? splices : dropRemoved(splices.toSorted(byPosition));
}

/** Drops the splices within others: the change of a value whose member is removed. */
function dropRemoved(splices: readonly Splice[]): readonly Splice[] {
  let end = 0;
  return splices.filter((splice) => {
    if (splice.start < end) return false;
    end = splice.end;
    return true;
  });
}

function byPosition(a: Splice, b: Splice): number {
  return a.start - b.start || a.end - b.end;
}

function areInOrder(splices: readonly Splice[]): boolean {
  for (let at = 1; at < splices.length; at++)
    if ((splices[at - 1] as Splice).end > (splices[at] as Splice).start) return false;
  return true;
}

/**
 * Returns splices that remove the named members of an object with their commas; `text` is the scanned text. At least one other
 * member must remain.
 */
export function removeMembers(text: string, object: JsonNode, keys: NameSet): readonly Splice[] {
  let splices: Splice[] | null = null;
  for (const { key, keyStart, end } of object.members ?? []) {
    if (!keys.has(key)) continue;
    splices ??= [];
    const mark = passSpace(text, end);
    const isLast = text.charAt(mark) !== ",";
    const before = splices.at(-1)?.end === keyStart ? splices.pop() : undefined;
    const start = before?.start ?? keyStart;
    // The last member has no comma after it, so the one before it is removed.
    if (isLast) splices.push({ start: commaBefore(text, start), end, insert: "" });
    else splices.push({ start, end: passSpace(text, mark + 1), insert: "" });
  }
  return splices ?? NO_SPLICES;
}

/** Returns splices that remove elements of a scanned array with their commas. At least one other element must remain. */
export function removeItems(
  text: string,
  array: JsonNode,
  positions: ReadonlySet<number>,
): readonly Splice[] {
  const items = array.items ?? [];
  if (positions.size === 0) return NO_SPLICES;
  const splices: Splice[] = [];
  let hasKept = false;
  for (const [at, { start, end }] of items.entries()) {
    if (!positions.has(at)) {
      hasKept = true;
      continue;
    }
    const from = hasKept ? commaBefore(text, start) : start;
    const to = hasKept ? end : passSpace(text, passSpace(text, end) + 1);
    splices.push({ start: from, end: to, insert: "" });
  }
  return splices;
}

/** The empty list of splices. Most bodies need no edits. */
export const NO_SPLICES: readonly Splice[] = [];

/** The usual case: nothing is omitted from a body. */
export const LEFT_OUT_NOTHING: LeftOut = { removed: new Set(), splices: NO_SPLICES };

/** Appends `more`, which is usually empty, to `splices`. A spread would cost time even then. */
export function addAll(splices: Splice[], more: readonly Splice[]): void {
  for (const splice of more) splices.push(splice);
}

function passSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

/** Returns the position of the comma before `at`; `at` where there is none. */
function commaBefore(text: string, at: number): number {
  let mark = at - 1;
  while (isSpace(text.charCodeAt(mark))) mark--;
  return text.charAt(mark) === "," ? mark : at;
}

/** Returns a splice that renames a member; `text` is the scanned text. */
export function renameMember(text: string, member: JsonNode, name: string): Splice {
  return replaceName(text, member, JSON.stringify(name));
}

/** Returns a splice that renames a member, as `renameMember`; `json` is the name as JSON. */
export function replaceName(text: string, { keyStart }: JsonNode, json: string): Splice {
  return { start: keyStart, end: endOfString(text, keyStart), insert: json };
}

/** Returns a splice that appends a member to an object, which must have at least one. */
export function appendMember(object: JsonNode, key: string, json: string): Splice {
  return { start: object.end - 1, end: object.end - 1, insert: `,${JSON.stringify(key)}:${json}` };
}

/** Returns a splice that sets a member of an object, which must have at least one. */
export function setMember(object: JsonNode, key: string, json: string): Splice {
  const member = object.members?.find((one) => one.key === key);
  return member === undefined
    ? appendMember(object, key, json)
    : { start: member.start, end: member.end, insert: json };
}

/**
 * Returns splices that change the named members of an object if they are not null. Values that are not
 * strings are changed in their JSON form.
 */
export function changeTexts(
  text: string,
  object: JsonNode | undefined,
  keys: NameSet,
  change: (value: string) => string,
): readonly Splice[] {
  let splices: Splice[] | null = null;
  for (const member of object?.members ?? []) {
    if (!keys.has(member.key) || member.kind === "null") continue;
    splices ??= [];
    const { start, end } = member;
    const value = tryStringOf(text, member) ?? text.slice(start, end);
    splices.push({ start, end, insert: JSON.stringify(change(value)) });
  }
  return splices ?? NO_SPLICES;
}
