import { asFields, type Fields } from "../../json/fields.ts";
import { decodeUtf8, type JsonNode, memberOf, numberOf } from "../../json/scan.ts";

/**
 * Items of a stream that have begun and are not over, for the event that says that the response failed: clients look
 * there for all of the output. Texts are kept as they stand in the JSON, bytes read as Latin-1.
 */
export interface OpenItems {
  /** `raw` is the item as it began. */
  begin(place: number, raw: string): void;
  end(place: number): void;
  /** The text that an event of `TEXT_EVENTS` brings more of. */
  textOf(type: string, data: string, event: JsonNode): OpenText;
  /** The items as far as they have come, by their place in the output. */
  read(): [place: number, item: Fields][];
}

/** A text, or arguments, while it comes. */
export interface OpenText {
  add(escaped: string): void;
}

/** Where the text of an event goes: the list of its parts, and the index in it; a call has one text of its own. */
interface Home {
  readonly list: "content" | "summary" | "arguments" | "input";
  readonly part: string;
  readonly field: string;
}

/** The events that bring text, by their type. */
export const TEXT_EVENTS: Readonly<Record<string, Home>> = {
  "response.output_text.delta": { list: "content", part: "output_text", field: "text" },
  "response.refusal.delta": { list: "content", part: "refusal", field: "refusal" },
  "response.reasoning_text.delta": { list: "content", part: "reasoning_text", field: "text" },
  "response.reasoning_summary_text.delta": { list: "summary", part: "summary_text", field: "text" },
  "response.function_call_arguments.delta": { list: "arguments", part: "", field: "" },
  "response.custom_tool_call_input.delta": { list: "input", part: "", field: "" },
};

interface OpenItem {
  readonly raw: string;
  /** By list and index. */
  readonly texts: Map<string, KeptText>;
}

interface KeptText extends OpenText {
  readonly home: Home;
  readonly index: number;
  read(): string;
}

export function createOpenItems(): OpenItems {
  const items = new Map<number, OpenItem>();
  const itemAt = (place: number): OpenItem => {
    let item = items.get(place);
    if (item === undefined) {
      item = { raw: "{}", texts: new Map() };
      items.set(place, item);
    }
    return item;
  };
  return {
    begin: (place, raw) => void items.set(place, { raw, texts: new Map() }),
    end: (place) => void items.delete(place),
    textOf(type, data, event) {
      const home = TEXT_EVENTS[type] as Home;
      const { texts } = itemAt(numberOf(data, memberOf(event, "output_index")) ?? 0);
      const index = numberOf(data, memberOf(event, `${home.list}_index`)) ?? 0;
      const key = `${home.list}:${index}`;
      const text = texts.get(key) ?? createText(home, index);
      texts.set(key, text);
      return text;
    },
    read: () => [...items].map(([place, item]) => [place, readItem(item)]),
  };
}

/** Slices of a piece of the stream keep all of it in memory, so they are copied into one text now and then. */
const MAX_SLICES = 64;

function createText(home: Home, index: number): KeptText {
  const copied: string[] = [];
  const slices: string[] = [];
  return {
    home,
    index,
    add(escaped) {
      if (slices.push(escaped) === MAX_SLICES) copied.push(slices.splice(0).join(""));
    },
    read: () => copied.join("") + slices.join(""),
  };
}

function readItem({ raw, texts }: OpenItem): Fields {
  const item: Record<string, unknown> = { ...parse(raw) };
  for (const text of texts.values()) {
    const { list, part, field } = text.home;
    const words = parseText(text.read());
    if (list === "arguments" || list === "input") item[list] = words;
    else item[list] = placePart(item[list], text.index, { ...EMPTY_PARTS[part], type: part, [field]: words });
  }
  return "status" in item ? { ...item, status: "incomplete" } : item;
}

const EMPTY_PARTS: Readonly<Record<string, Fields>> = { output_text: { annotations: [], logprobs: [] } };

function placePart(list: unknown, index: number, part: Fields): unknown[] {
  const parts: unknown[] = Array.isArray(list) ? [...list] : [];
  parts.splice(index, 1, part);
  return parts;
}

function parse(raw: string): Fields {
  return asFields(JSON.parse(decodeUtf8(raw))) ?? {};
}

/** A text that the vendor spelled wrongly reads as none. */
function parseText(escaped: string): string {
  try {
    return JSON.parse(decodeUtf8(`"${escaped}"`)) as string;
  } catch {
    return "";
  }
}
