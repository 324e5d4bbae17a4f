import { endOfString, isSpace, type JsonNode, tryStringOf } from "./scan.ts";

/** Replaces bytes `start` to `end` with `insert`. Equal bounds insert. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly insert: string;
}

/**
 * The bytes with the splices made. They may come in any order but must not overlap; of several at one place
 * the first given stands first. The input itself when there are none.
 */
export function applySplices(bytes: Buffer, splices: readonly Splice[]): Buffer {
  if (splices.length === 0) return bytes;
  const ordered = isOrdered(splices) ? splices : splices.toSorted(byPlace);
  let size = bytes.length;
  for (const { start, end, insert } of ordered) size += Buffer.byteLength(insert) - (end - start);
  const result = Buffer.allocUnsafe(size);
  let from = 0;
  let to = 0;
  for (const { start, end, insert } of ordered) {
    if (start > from) to += bytes.copy(result, to, from, start);
    if (insert !== "") to += result.write(insert, to);
    from = end;
  }
  bytes.copy(result, to, from);
  return result;
}

function byPlace(a: Splice, b: Splice): number {
  return a.start - b.start || a.end - b.end;
}

function isOrdered(splices: readonly Splice[]): boolean {
  for (let at = 1; at < splices.length; at++)
    if (byPlace(splices[at - 1] as Splice, splices[at] as Splice) > 0) return false;
  return true;
}

/**
 * Splices that remove the named members of an object, with their commas; `text` is what it was scanned from. At least
 * one other member must remain.
 */
export function removeMembers(text: string, object: JsonNode, keys: ReadonlySet<string>): Splice[] {
  const splices: Splice[] = [];
  for (const { key, keyStart, end } of object.members ?? []) {
    if (!keys.has(key)) continue;
    const mark = passSpace(text, end);
    const isLast = text.charAt(mark) !== ",";
    const before = splices.at(-1)?.end === keyStart ? splices.pop() : undefined;
    const start = before?.start ?? keyStart;
    // Nothing follows whose comma could go, so the one before it goes.
    if (isLast) splices.push({ start: commaBefore(text, start), end, insert: "" });
    else splices.push({ start, end: passSpace(text, mark + 1), insert: "" });
  }
  return splices;
}

function passSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

/** Where the comma stands that is the mark before `at`; `at` where there is none. */
function commaBefore(text: string, at: number): number {
  let mark = at - 1;
  while (isSpace(text.charCodeAt(mark))) mark--;
  return text.charAt(mark) === "," ? mark : at;
}

/** A splice that gives a member another name; `text` is what it was scanned from. */
export function renameMember(text: string, { keyStart }: JsonNode, name: string): Splice {
  return { start: keyStart, end: endOfString(text, keyStart), insert: JSON.stringify(name) };
}

/** A splice that adds a member at the end of an object that has at least one. */
export function appendMember(object: JsonNode, key: string, json: string): Splice {
  return { start: object.end - 1, end: object.end - 1, insert: `,${JSON.stringify(key)}:${json}` };
}

/** A splice that gives a member of an object a value; the object has at least one member. */
export function setMember(object: JsonNode, key: string, json: string): Splice {
  const member = object.members?.find((one) => one.key === key);
  return member === undefined
    ? appendMember(object, key, json)
    : { start: member.start, end: member.end, insert: json };
}

/** Splices that change the named members of an object, where they are not null. What is no text is changed as it is written. */
export function changeTexts(
  text: string,
  object: JsonNode | undefined,
  keys: ReadonlySet<string>,
  change: (value: string) => string,
): Splice[] {
  const splices: Splice[] = [];
  for (const member of object?.members ?? []) {
    if (!keys.has(member.key) || member.kind === "null") continue;
    const { start, end } = member;
    const said = tryStringOf(text, member) ?? text.slice(start, end);
    splices.push({ start, end, insert: JSON.stringify(change(said)) });
  }
  return splices;
}
