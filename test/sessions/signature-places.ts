import { asFields, asObjects, type Fields } from "../../src/base/json/fields.ts";
import type { FormatName } from "../../src/wire/conversation/traits/format-name.ts";
import type { RecordedAnswer } from "../fidelity/recorded/recorded-answers.ts";

/** A part of an answer: its kind, its text or name, and the vendor's signature or encrypted reasoning. */
export interface Place {
  readonly kind: string;
  readonly text: string;
  readonly signature: string | null;
}

/** Lists the parts of the model's turns in a request, in order. */
export function listPlaces(format: FormatName, body: Fields): readonly Place[] {
  switch (format) {
    case "anthropic-messages":
      return ofModel(body["messages"], "assistant").flatMap(({ content }) =>
        typeof content === "string"
          ? [{ kind: "text", text: content, signature: null }]
          : asObjects(content).flatMap(placeOfBlock),
      );
    case "gemini":
      return joinTexts(
        ofModel(body["contents"], "model").flatMap(({ parts }) => asObjects(parts).map(placeOfPart)),
      );
    default:
      return asObjects(body["input"]).flatMap(placeOfItem);
  }
}

/** Lists the parts of a recorded answer as the vendor must get them back. */
export function listRecordedPlaces({ format, whole, stream }: RecordedAnswer): readonly Place[] {
  const events = stream === null ? [] : readEvents(stream);
  switch (format) {
    case "anthropic-messages":
      return asObjects(whole?.["content"] ?? joinBlocks(events)).flatMap(placeOfBlock);
    case "gemini":
      // Summaries of thoughts are for people: the vendor does not want them back.
      return joinTexts(
        (whole === null ? events : [whole]).flatMap(({ candidates }) =>
          asObjects(asFields(asObjects(candidates)[0]?.["content"])?.["parts"]).map(placeOfPart),
        ),
      ).filter(({ kind, text, signature }) => {
        // The arguments of a call may come in pieces, of which only the first has the name.
        return signature !== null || (kind !== "thought" && text !== "");
      });
    default: {
      // OpenAI encrypts the reasoning again for each event. The gateway keeps that of the last one.
      const ended = whole ?? asFields(events.at(-1)?.["response"]);
      return asObjects(ended?.["output"]).flatMap(placeOfItem);
    }
  }
}

function ofModel(turns: unknown, role: string): readonly Fields[] {
  return asObjects(turns).filter((turn) => turn["role"] === role);
}

function readEvents(stream: string): Fields[] {
  const text = Buffer.from(stream, "latin1").toString("utf8");
  return text
    .split("\n")
    .filter((line) => line.startsWith("data:") && !line.includes("[DONE]"))
    .map((line) => JSON.parse(line.slice("data:".length)) as Fields);
}

/** Joins the deltas of a stream of Messages into blocks. */
function joinBlocks(events: readonly Fields[]): Fields[] {
  const blocks = new Map<unknown, Record<string, unknown>>();
  for (const { type, index, content_block, delta } of events) {
    if (type === "content_block_start") blocks.set(index, { ...asFields(content_block) });
    const block = blocks.get(index);
    if (type !== "content_block_delta" || block === undefined) continue;
    const { type: kind, text, thinking, signature } = asFields(delta) ?? {};
    if (kind === "text_delta") block["text"] = `${block["text"]}${text}`;
    if (kind === "thinking_delta") block["thinking"] = `${block["thinking"]}${thinking}`;
    if (kind === "signature_delta") block["signature"] = signature;
  }
  return [...blocks.values()];
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const signatureOf = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value : null;

function placeOfBlock(block: Fields): Place[] {
  switch (block["type"]) {
    case "thinking":
      return [
        { kind: "thinking", text: textOf(block["thinking"]), signature: signatureOf(block["signature"]) },
      ];
    case "redacted_thinking":
      return [{ kind: "redacted", text: "", signature: signatureOf(block["data"]) }];
    case "tool_use":
      return [{ kind: "call", text: textOf(block["name"]), signature: null }];
    case "text":
      return block["text"] === "" ? [] : [{ kind: "text", text: textOf(block["text"]), signature: null }];
    default:
      // What the vendor's own tools did is not part of this test.
      return [];
  }
}

function placeOfPart(part: Fields): Place {
  const signature = signatureOf(part["thoughtSignature"]);
  const call = asFields(part["functionCall"]);
  if (call !== null) return { kind: "call", text: textOf(call["name"]), signature };
  return { kind: part["thought"] === true ? "thought" : "text", text: textOf(part["text"]), signature };
}

/** Joins the texts of one kind that a stream has cut. A signature belongs to the text before it. */
function joinTexts(places: readonly Place[]): Place[] {
  const joined: Place[] = [];
  for (const place of places) {
    const last = joined.at(-1);
    const isCut = last?.kind === place.kind && place.kind !== "call" && last.signature === null;
    if (last !== undefined && isCut) joined[joined.length - 1] = { ...place, text: last.text + place.text };
    else joined.push(place);
  }
  return joined;
}

function placeOfItem(item: Fields): Place[] {
  switch (item["type"]) {
    case "reasoning":
      return [
        {
          kind: "reasoning",
          text: asObjects(item["summary"])
            .map(({ text }) => text)
            .join("\n"),
          signature: signatureOf(item["encrypted_content"]),
        },
      ];
    case "function_call":
      return [{ kind: "call", text: textOf(item["name"]), signature: null }];
    case "message": {
      if (item["role"] !== "assistant") return [];
      return [
        {
          kind: "text",
          text: asObjects(item["content"])
            .map(({ text }) => text)
            .join(""),
          signature: null,
        },
      ];
    }
    default:
      return [];
  }
}
