import { asFields, createTable, type Fields, setField } from "../../../base/json/fields.ts";
import { decodeUtf8 } from "../../../base/json/scan.ts";
import { outputIndexOf, partIndexOf, type ScannedEvent } from "./scanned-event.ts";

/** A text, or the arguments of a call, while it arrives. */
export interface OpenTextItem {
  /** Appends text, escaped as in the JSON, bytes as Latin-1. */
  append(escaped: string): void;
}

/** Where the text of an event belongs: a part of one of the item's lists, or a field of a call. */
interface TextField {
  readonly list: "content" | "summary" | "arguments" | "input";
  readonly part: string;
  readonly field: string;
}

/** The events that contain text, by their type. */
export const TEXT_EVENTS: Readonly<Record<string, TextField>> = createTable({
  "response.output_text.delta": { list: "content", part: "output_text", field: "text" },
  "response.refusal.delta": { list: "content", part: "refusal", field: "refusal" },
  "response.reasoning_text.delta": { list: "content", part: "reasoning_text", field: "text" },
  "response.reasoning_summary_text.delta": { list: "summary", part: "summary_text", field: "text" },
  "response.function_call_arguments.delta": { list: "arguments", part: "", field: "" },
  "response.custom_tool_call_input.delta": { list: "input", part: "", field: "" },
});

interface OpenItem {
  /** The item as it began, bytes as Latin-1. */
  readonly json: string;
  /** By list and index. */
  readonly texts: Map<string, CollectedText>;
}

/**
 * The items of a stream that have begun and not ended. The event that reports a failed response contains them, because clients
 * look there for the whole output.
 */
export class OpenItems {
  private readonly items = new Map<number, OpenItem>();

  begin(outputIndex: number, json: string): void {
    this.items.set(outputIndex, { json, texts: new Map() });
  }

  end(outputIndex: number): void {
    this.items.delete(outputIndex);
  }

  /** Returns the text that an event of `TEXT_EVENTS` adds to. */
  textOf(event: ScannedEvent): OpenTextItem {
    const target = TEXT_EVENTS[event.type] as TextField;
    const { texts } = this.itemAt(outputIndexOf(event));
    const index = partIndexOf(event, target.list);
    const key = `${target.list}:${index}`;
    const text = texts.get(key) ?? new CollectedText(target, index);
    texts.set(key, text);
    return text;
  }

  /** Returns the items with the content so far, by their index in the output. */
  read(): [outputIndex: number, item: Fields][] {
    return [...this.items].map(([index, item]) => [index, readItem(item)]);
  }

  private itemAt(outputIndex: number): OpenItem {
    if (!this.items.has(outputIndex)) this.begin(outputIndex, "{}");
    return this.items.get(outputIndex) as OpenItem;
  }
}

/** A slice keeps the whole piece of the stream in memory, so this many slices are copied into one string. */
const MAX_SLICES = 64;

class CollectedText implements OpenTextItem {
  private readonly copied: string[] = [];
  private readonly slices: string[] = [];

  constructor(
    readonly target: TextField,
    readonly index: number,
  ) {}

  append(escaped: string): void {
    if (this.slices.push(escaped) === MAX_SLICES) this.copied.push(this.slices.splice(0).join(""));
  }

  read(): string {
    return parseText(this.copied.join("") + this.slices.join(""));
  }
}

function readItem({ json, texts }: OpenItem): Fields {
  const item: Record<string, unknown> = { ...asFields(JSON.parse(decodeUtf8(json))) };
  for (const collected of texts.values()) {
    const { list, part, field } = collected.target;
    const text = collected.read();
    if (list === "arguments" || list === "input") setField(item, list, text);
    else
      setField(
        item,
        list,
        setPart(item[list], collected.index, { ...EMPTY_PARTS[part], type: part, [field]: text }),
      );
  }
  return "status" in item ? { ...item, status: "incomplete" } : item;
}

/** The fields of a part without text, by its type. */
export const EMPTY_PARTS: Readonly<Record<string, Fields>> = {
  output_text: { annotations: [], logprobs: [] },
};

function setPart(list: unknown, index: number, part: Fields): unknown[] {
  const parts: unknown[] = Array.isArray(list) ? [...list] : [];
  parts.splice(index, 1, part);
  return parts;
}

/** Parses the text of a JSON string; "" if the vendor escaped it wrongly. */
function parseText(escaped: string): string {
  try {
    return JSON.parse(decodeUtf8(`"${escaped}"`)) as string;
  } catch {
    return "";
  }
}
