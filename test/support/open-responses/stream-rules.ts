import { isDeepStrictEqual } from "node:util";
import { findEventFaults } from "./shapes.ts";

/** An event of a stream, or an object in it. */
// biome-ignore lint/suspicious/noExplicitAny: what comes from the wire is looked into as it comes
export type Json = Readonly<Record<string, any>>;

const BEGIN = ["response.created", "response.queued", "response.in_progress"];
const LAST = new Set(["response.completed", "response.incomplete", "response.failed"]);

/** The kinds of parts: the events that open and close them, the field with their index, and those of their texts. */
const LISTS = {
  "response.content_part": { index: "content_index", list: "content" },
  "response.reasoning_summary_part": { index: "summary_index", list: "summary" },
} as const;

/** The texts that are streamed in pieces: by their type without `.delta`, the field of `.done` with the whole text. */
const TEXTS: Readonly<Record<string, { readonly whole: string; readonly list: keyof typeof LISTS | null }>> =
  {
    "response.output_text": { whole: "text", list: "response.content_part" },
    "response.refusal": { whole: "refusal", list: "response.content_part" },
    "response.reasoning_summary_text": { whole: "text", list: "response.reasoning_summary_part" },
    "response.function_call_arguments": { whole: "arguments", list: null },
  };

/**
 * Returns which rules of Open Responses (specification of 2026-04-24, "Items are streamable", "Streaming") the events of one response break: an
 * empty list if it breaks none.
 */
export function findBrokenRules(events: readonly Json[]): readonly string[] {
  const stream = new Stream();
  for (const event of events) stream.read(event);
  stream.end();
  return stream.faults;
}

/** A text of an item while it is streamed. */
interface OpenText {
  pieces: string;
  isDone: boolean;
}

/** An item of the response, from its `added` to its `done`. */
class Item {
  readonly id: string;
  /** Open parts and texts by their place in the item. */
  readonly open = new Map<string, OpenText>();
  /** How many parts were added to each list. */
  readonly added: Record<string, number> = {};
  done: Json | null = null;

  constructor(readonly begun: Json) {
    this.id = begun["id"];
  }
}

class Stream {
  readonly faults: string[] = [];
  private count = 0;
  private readonly items: Item[] = [];
  private responseId: unknown;
  private last: Json | null = null;

  read(event: Json): void {
    const type = String(event["type"]);
    this.require(this.last === null, `${type} follows the terminal event`);
    this.faults.push(...findEventFaults(event));
    const { sequence_number: sequence, response } = event;
    this.require(sequence === this.count, `${type} has the sequence_number ${sequence}, not ${this.count}`);
    if (this.count === 0)
      this.require(type === "response.created", `the stream begins with ${type}, not with response.created`);
    this.count++;
    if (response !== undefined) this.readResponse(type, response);
    else if (type === "response.output_item.added") this.addItem(event);
    else if (type === "response.output_item.done") this.endItem(event);
    else this.readWithin(type, event);
  }

  end(): void {
    this.require(this.last !== null, "the stream has no terminal event");
  }

  private require(holds: boolean, fault: string): void {
    if (!holds) this.faults.push(fault);
  }

  private readResponse(type: string, response: Json): void {
    this.responseId ??= response["id"];
    this.require(response["id"] === this.responseId, `${type} has the id of another response`);
    if (LAST.has(type)) this.endResponse(type, response);
    else this.beginResponse(type, response);
  }

  private beginResponse(type: string, response: Json): void {
    this.require(BEGIN.includes(type), `${type} has a response`);
    this.require(this.items.length === 0, `${type} follows an item`);
    const status = type === "response.queued" ? ["queued"] : ["queued", "in_progress"];
    this.require(status.includes(response["status"]), `${type} has the status ${response["status"]}`);
    this.require(response["output"]?.length === 0, `${type} has output`);
    this.require(response["completed_at"] === null, `${type} has a completed_at`);
  }

  private endResponse(type: string, response: Json): void {
    this.last = response;
    const { status, output = [], completed_at: completedAt, incomplete_details: details, error } = response;
    this.require(type === `response.${status}`, `${type} has the status ${status}`);
    this.require((error !== null) === (status === "failed"), `error of a response that is ${status}`);
    this.require(
      (details !== null) === (status === "incomplete"),
      `incomplete_details of a response that is ${status}`,
    );
    this.require(
      (completedAt !== null) === (status === "completed"),
      `completed_at of a response that is ${status}`,
    );
    this.require(output.length === this.items.length, `${type} has other items than the stream`);
    for (const [at, item] of this.items.entries()) {
      this.require(output[at]?.id === item.id, `${type} has another item at ${at}`);
      // A failure may end a response in the middle of an item.
      if (status === "failed") continue;
      this.require(item.done !== null, `the item ${at} is not done`);
      if (item.done !== null)
        this.require(isDeepStrictEqual(output[at], item.done), `${type} changes the item ${at}`);
    }
    this.checkIncomplete(status, output);
  }

  /** An item that was cut off is the last one, and so is its response. */
  private checkIncomplete(status: string, output: readonly Json[]): void {
    for (const [at, item] of output.entries()) {
      this.require(item["status"] !== "in_progress", `the item ${at} is in_progress at the end`);
      if (item["status"] !== "incomplete") continue;
      this.require(at === output.length - 1, `the item ${at} is incomplete, and another one follows`);
      this.require(status !== "completed", `the item ${at} is incomplete, and the response is completed`);
    }
  }

  private addItem({ output_index: at, item }: Json): void {
    this.require(at === this.items.length, `the item at ${at} was added as number ${this.items.length}`);
    this.require(!this.items.some(({ id }) => id === item.id), `the id of the item at ${at} was used before`);
    const { status, content, summary, arguments: args } = item;
    if (status !== undefined)
      this.require(status === "in_progress", `the item at ${at} is ${status} when it is added`);
    const text = [...(content ?? []), ...(summary ?? []), args ?? ""].join("");
    this.require(text === "", `the item at ${at} has content when it is added`);
    this.items.push(new Item(item));
  }

  private endItem({ output_index: at, item }: Json): void {
    const begun = this.items[at];
    if (begun === undefined || begun.done !== null) {
      this.faults.push(`the item at ${at} is done, but not open`);
      return;
    }
    begun.done = item;
    for (const field of ["id", "type", "role", "name", "call_id"])
      this.require(item[field] === begun.begun[field], `the item at ${at} has changed its ${field}`);
    this.require(item.status !== "in_progress", `the item at ${at} is in_progress when it is done`);
    for (const [place, { isDone }] of begun.open)
      this.require(isDone, `the item at ${at} is done before its ${place}`);
    for (const { index, list } of Object.values(LISTS)) {
      const added = begun.added[index] ?? 0;
      this.require((item[list]?.length ?? 0) === added, `the item at ${at} has other parts than the stream`);
    }
  }

  /** Reads an event of a part or a text of an item. */
  private readWithin(type: string, event: Json): void {
    const { output_index: at, item_id: id } = event;
    const item = this.items[at];
    if (item === undefined || item.id !== id || item.done !== null) {
      this.faults.push(`${type} of an item that is not open`);
      return;
    }
    const step = type.slice(type.lastIndexOf(".") + 1);
    const name = type.slice(0, -step.length - 1);
    if (name in LISTS) this.readPart(item, { name: name as keyof typeof LISTS, step, event });
    else if (name in TEXTS) this.readText(item, { name, step, event });
  }

  private readPart(item: Item, { name, step, event }: StepOf<keyof typeof LISTS>): void {
    const { index } = LISTS[name];
    const at = event[index];
    const place = `${index} ${at}`;
    const { part } = event;
    const text = part?.text ?? part?.refusal;
    if (step === "added") {
      this.require(at === (item.added[index] ?? 0), `${name}.added skips to the ${place}`);
      item.added[index] = at + 1;
      this.require(text === "", `the part at the ${place} has text when it is added`);
      item.open.set(place, { pieces: "", isDone: false });
      return;
    }
    const open = item.open.get(place);
    this.require(open?.isDone === false, `the part at the ${place} is done, but not open`);
    this.require(text === open?.pieces, `the part at the ${place} differs from its deltas`);
    const texts = item.open.get(`text of ${place}`);
    this.require(texts === undefined || texts.isDone, `the part at the ${place} is done before its text`);
    if (open !== undefined) open.isDone = true;
  }

  private readText(item: Item, { name, step, event }: StepOf<string>): void {
    const { whole, list } = TEXTS[name]!;
    const place = list === null ? "call" : `${LISTS[list].index} ${event[LISTS[list].index]}`;
    const part = list === null ? undefined : item.open.get(place);
    if (list !== null && part?.isDone !== false) {
      this.faults.push(`${name}.${step} of a part that is not open`);
      return;
    }
    const key = `text of ${place}`;
    const text = item.open.get(key) ?? { pieces: "", isDone: false };
    item.open.set(key, text);
    this.require(!text.isDone, `${name}.${step} follows ${name}.done`);
    if (step === "delta") {
      text.pieces += event["delta"];
      if (part !== undefined) part.pieces = text.pieces;
      return;
    }
    text.isDone = true;
    this.require(event[whole] === text.pieces, `${name}.done differs from its deltas`);
  }
}

interface StepOf<Name> {
  readonly name: Name;
  readonly step: string;
  readonly event: Json;
}
