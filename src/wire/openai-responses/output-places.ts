/** The facts in an event of a Responses stream about its place in the output. */
export interface EventFacts {
  readonly type: string;
  /** `output_index`; null if the vendor gives none. */
  readonly outputIndex: number | null;
  /** `item_id`, or the id of the event's item. */
  readonly itemId: string | null;
  /** The type of the event's item; null for events without one. */
  readonly itemType: string | null;
  /** `content_index` or `summary_index`, whichever the event has. */
  readonly partIndex: number | null;
}

/** Where an event belongs in the output that the client sees. */
export interface EventPlace {
  readonly output: number;
  /** The index of the part in its list; null for events that are about no part. */
  readonly part: number | null;
  /** Whether the event adds text to a part that no earlier event has opened. */
  readonly opensPart: boolean;
}

interface KnownPart {
  readonly index: number;
  hasText: boolean;
}

interface KnownItem {
  readonly index: number;
  readonly id: string | null;
  readonly type: string;
  isDone: boolean;
  /** The parts of both lists, by list and the vendor's index. */
  readonly parts: Map<string, KnownPart>;
  readonly lists: Readonly<Record<PartList, KnownList>>;
}

interface KnownList {
  last: KnownPart | null;
  count: number;
}

type PartList = "content" | "summary";

/** The target of an event: the type of its item, and the list that contains its part. */
interface Target {
  readonly itemTypes: ReadonlySet<string>;
  readonly list: PartList | null;
}

const MESSAGE = new Set(["message"]);
const REASONING = new Set(["reasoning"]);
const BOTH = new Set(["message", "reasoning"]);

/** The targets of events, by the beginning of their type without `response.`. */
const TARGETS: readonly (readonly [prefix: string, target: Target])[] = [
  ["output_text.", { itemTypes: MESSAGE, list: "content" }],
  ["refusal.", { itemTypes: MESSAGE, list: "content" }],
  ["content_part.", { itemTypes: BOTH, list: "content" }],
  ["reasoning_text.", { itemTypes: REASONING, list: "content" }],
  ["reasoning_summary_", { itemTypes: REASONING, list: "summary" }],
  ["function_call_arguments.", { itemTypes: new Set(["function_call"]), list: null }],
  ["custom_tool_call_input.", { itemTypes: new Set(["custom_tool_call"]), list: null }],
];
const PREFIX = "response.";
/** Items among which an event without a usable index may find its own. */
const MAX_SEARCHED = 16;

/**
 * Finds the place of each event of a Responses stream. Items and parts are numbered in the order in which they are added, as OpenAI does,
 * because clients look them up by number. Some hosts count parts after reasoning from 1, repeat an index, or send none.
 */
export class OutputPlaces {
  private readonly items: KnownItem[] = [];
  /** The latest item of each vendor index and of each id. */
  private readonly byIndex = new Map<number, KnownItem>();
  private readonly byId = new Map<string, KnownItem>();

  /** Returns the place of the next event; null for events that are about no item that is known. */
  place(facts: EventFacts): EventPlace | null {
    const { type } = facts;
    const target = findTarget(type);
    const item =
      type === "response.output_item.added"
        ? this.addItem(facts)
        : this.findItem(facts, target?.itemTypes ?? null);
    if (item === null) return null;
    if (type === "response.output_item.done") item.isDone = true;
    if (target?.list == null) return { output: item.index, part: null, opensPart: false };
    const { part, isNew } = findPart(item, target.list, facts);
    const addsText = type.endsWith(".delta");
    if (addsText) part.hasText = true;
    return { output: item.index, part: part.index, opensPart: isNew && addsText };
  }

  private addItem(facts: EventFacts): KnownItem {
    const known = facts.outputIndex === null ? undefined : this.byIndex.get(facts.outputIndex);
    const isRepeat = known?.isDone === false && (known.id === null || known.id === facts.itemId);
    return isRepeat ? known : this.begin(facts);
  }

  private begin({ outputIndex, itemId, itemType }: EventFacts): KnownItem {
    const item: KnownItem = {
      index: this.items.length,
      id: itemId,
      type: itemType ?? "",
      isDone: false,
      parts: new Map(),
      lists: { content: { last: null, count: 0 }, summary: { last: null, count: 0 } },
    };
    this.items.push(item);
    if (outputIndex !== null) this.byIndex.set(outputIndex, item);
    if (itemId !== null) this.byId.set(itemId, item);
    return item;
  }

  /**
   * Finds the item of an event: by its index, by its id, or as the last open one of the type. An item that ends without having begun is
   * added.
   */
  private findItem(facts: EventFacts, types: ReadonlySet<string> | null): KnownItem | null {
    const { outputIndex, itemId } = facts;
    const named = itemId === null ? undefined : this.byId.get(itemId);
    const numbered = outputIndex === null ? undefined : this.byIndex.get(outputIndex);
    const wanted = facts.itemType === null ? types : new Set([facts.itemType]);
    const fits = ({ isDone, type }: KnownItem): boolean => !isDone && (wanted === null || wanted.has(type));
    for (const item of [numbered, named]) if (item !== undefined && fits(item)) return item;
    const isUnplaced = outputIndex === null || numbered !== undefined;
    const open = isUnplaced && wanted !== null ? this.items.slice(-MAX_SEARCHED).findLast(fits) : undefined;
    if (open !== undefined) return open;
    const before = named ?? numbered ?? null;
    const isEnd = facts.type === "response.output_item.done";
    const isRepeat = before !== null && (before.id === itemId || itemId === null);
    return isEnd && !isRepeat ? this.begin(facts) : before;
  }
}

function findTarget(type: string): Target | null {
  if (!type.startsWith(PREFIX)) return null;
  for (const [prefix, target] of TARGETS) if (type.startsWith(prefix, PREFIX.length)) return target;
  return null;
}

/**
 * Finds the part of an event. A text with a new index belongs to the part that was added last, if that has no text yet. The end of a part
 * belongs to the last one.
 */
function findPart(
  item: KnownItem,
  list: PartList,
  { type, partIndex }: EventFacts,
): { readonly part: KnownPart; readonly isNew: boolean } {
  const key = `${list}:${partIndex ?? "none"}`;
  const parts = item.lists[list];
  const { last } = parts;
  const isAdded = type.endsWith(".added") && !type.includes("annotation");
  const mayBeLast =
    !isAdded && last !== null && (partIndex === null || !last.hasText || type.endsWith(".done"));
  const known = item.parts.get(key) ?? (mayBeLast ? last : undefined);
  const part = known ?? { index: parts.count++, hasText: false };
  item.parts.set(key, part);
  if (known === undefined) parts.last = part;
  return { part, isNew: known === undefined };
}
