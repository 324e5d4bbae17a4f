import { CACHE_CONTROL, MAX_CACHE_MARKS } from "../../conversation/cache-marking.ts";
import type { FormatTraits } from "../../conversation/traits/format-traits.ts";
import type { Warning } from "../../conversation/warning.ts";
import { mapSame } from "../model/map-same.ts";
import type { CacheMark, Part } from "../model/parts.ts";
import type { ConversationRequest, Tool } from "../model/request.ts";

/**
 * Removes cache marks beyond the maximum. Keeps the last mark of tools and instructions, which covers the longest part that other
 * conversations share, and the latest other marks. After a mark for five minutes, shortens marks for an hour, because vendors reject that
 * order.
 */
export function limitCacheMarks(
  request: ConversationRequest,
  { cacheMarks }: Pick<FormatTraits, "cacheMarks">,
): { readonly request: ConversationRequest; readonly warnings: readonly Warning[] } {
  if (cacheMarks !== "blocks") return { request, warnings: [] };
  const marks = listMarks(request);
  const room = MAX_CACHE_MARKS - (request.cache === undefined ? 0 : 1);
  const changes = new Map<CacheMark, CacheMark | null>();
  for (const mark of chooseSurplus(marks, room)) changes.set(mark, null);
  shortenLater(
    marks.map(({ mark }) => mark).filter((mark) => !changes.has(mark)),
    changes,
  );
  if (changes.size === 0) return { request, warnings: [] };
  const hasSurplus = marks.length > room;
  return {
    request: applyChanges(request, changes),
    warnings: [{ field: "cache_control", message: hasSurplus ? TOO_MANY : TOO_LONG }],
  };
}

const TOO_MANY = `A request may have ${MAX_CACHE_MARKS} cache marks: the last ones of tools and instructions, and the latest others, were sent.`;
const TOO_LONG =
  "A mark for an hour cannot follow one for five minutes; it was sent as one for five minutes.";

/** A mark in the order of the prompt: tools, instructions, turns. Each is one object of one place. */
interface PlacedMark {
  readonly mark: CacheMark;
  readonly isOfTurn: boolean;
}

function listMarks({ tools, messages }: ConversationRequest): readonly PlacedMark[] {
  const marks: PlacedMark[] = [];
  const add = (mark: CacheMark | undefined, isOfTurn: boolean): void => {
    if (mark !== undefined) marks.push({ mark, isOfTurn });
  };
  for (const tool of tools) if (tool.kind !== "native") add(tool.cache, false);
  for (const { role, parts } of messages)
    for (const part of parts) {
      add(cacheOf(part), role !== "system" && role !== "developer");
      if (part.kind === "tool-result") for (const inner of part.content) add(cacheOf(inner), true);
    }
  return marks;
}

function cacheOf(part: Part): CacheMark | undefined {
  return "cache" in part ? part.cache : undefined;
}

function chooseSurplus(marks: readonly PlacedMark[], room: number): readonly CacheMark[] {
  if (marks.length <= room) return [];
  const shared = marks.findLast(({ isOfTurn }) => !isOfTurn);
  const others = marks.filter((mark) => mark !== shared);
  const kept = others.slice(Math.max(0, others.length - (room - (shared === undefined ? 0 : 1))));
  return others.filter((mark) => !kept.includes(mark)).map(({ mark }) => mark);
}

/** The lifetime of a mark without one is five minutes. */
function shortenLater(marks: readonly CacheMark[], changes: Map<CacheMark, CacheMark | null>): void {
  let isShort = false;
  for (const mark of marks) {
    if (mark.ttl !== "1h") isShort = true;
    else if (isShort) changes.set(mark, { ...mark, ttl: "5m" });
  }
}

function applyChanges(
  request: ConversationRequest,
  changes: ReadonlyMap<CacheMark, CacheMark | null>,
): ConversationRequest {
  const change = <T extends object>(marked: T): T => {
    const { cache, ...rest } = marked as T & { readonly cache?: CacheMark };
    const changed = cache === undefined ? undefined : changes.get(cache);
    if (changed === undefined) return marked;
    return (changed === null ? rest : { ...rest, cache: changed }) as T;
  };
  const changePart = (part: Part): Part => {
    const changed = change(part);
    return changed.kind === "tool-result" ? { ...changed, content: changed.content.map(change) } : changed;
  };
  return {
    ...request,
    tools: mapSame(request.tools, (tool): Tool => (tool.kind === "native" ? tool : change(tool))),
    messages: request.messages.map((message) => ({ ...message, parts: mapSame(message.parts, changePart) })),
  };
}

/**
 * Returns whether the bytes may contain too many cache marks, or lifetimes in an order that vendors reject. May return true because of a
 * text that contains the field's name.
 */
export function hasManyMarks(bytes: Buffer): boolean {
  let count = 0;
  for (
    let at = bytes.indexOf(CACHE_CONTROL);
    at >= 0;
    at = bytes.indexOf(CACHE_CONTROL, at + CACHE_CONTROL.length)
  ) {
    count += 1;
    if (count > MAX_CACHE_MARKS) return true;
  }
  return count > 1 && bytes.includes(HOUR);
}

const HOUR = Buffer.from('"1h"');
