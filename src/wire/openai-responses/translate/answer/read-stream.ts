import { asFields, asList, asText, createTable, type Fields } from "../../../../base/json/fields.ts";
import { AnswerEmitter, PartEmitter } from "../../../canonical/answer/answer-emitter.ts";
import { type EventHandler, EventReader } from "../../../canonical/answer/event-reader.ts";
import type { AnswerReader } from "../../../canonical/model/format.ts";
import { brokenAnswer, readVendorError } from "../../../conversation/errors/vendor-error.ts";
import { decodeFinish } from "../../finish-reason.ts";
import { OutputPlaces } from "../../output-places.ts";
import { isSearch, readUsage } from "../../usage.ts";
import { markExtras } from "../parts/extras.ts";
import { decodeFrame, readTier } from "./decode-response.ts";
import { ItemReader, type ItemTarget, type TextTarget } from "./read-item.ts";

/** Returns a reader of Responses streams. */
export function createReader(): AnswerReader {
  const emitter = new AnswerEmitter();
  return new EventReader(emitter, new ResponseHandler(emitter));
}

const OUTPUT_TEXT: TextTarget = {
  list: "content",
  empty: { type: "output_text", annotations: [], logprobs: [], text: "" },
};

/** The targets of the events that append text. */
const TEXT_TARGETS: Readonly<Record<string, TextTarget>> = createTable({
  "response.output_text.delta": OUTPUT_TEXT,
  "response.refusal.delta": { list: "content", empty: { type: "refusal", refusal: "" } },
  "response.reasoning_text.delta": { list: "content", empty: { type: "reasoning_text", text: "" } },
  "response.reasoning_summary_text.delta": { list: "summary", empty: { type: "summary_text", text: "" } },
});

/** The targets of the events that add a text. */
const PART_TARGETS: Readonly<Record<string, TextTarget>> = createTable({
  "response.content_part.added": OUTPUT_TEXT,
  "response.reasoning_summary_part.added": { list: "summary", empty: { type: "summary_text", text: "" } },
});

class ResponseHandler implements EventHandler {
  private readonly target: ItemTarget;
  /** By output index, because an item's id may differ from event to event. */
  private readonly items = new Map<number, ItemReader>();
  private readonly places = new OutputPlaces();
  private searches = 0;

  constructor(private readonly emitter: AnswerEmitter) {
    this.target = { emitter, parts: new PartEmitter(emitter) };
  }

  readEvent(raw: Fields, name: string): void {
    const type = asText(raw["type"]) ?? name;
    const event = this.renumberEvent(raw, type);
    const isUntypedError = type === "" && Boolean(event["error"]);
    const textTarget = TEXT_TARGETS[type];
    const partTarget = PART_TARGETS[type];
    if (type === "error" || isUntypedError) this.emitter.fail(readVendorError(200, event));
    else if (textTarget !== undefined) this.findItem(event)?.appendText(event, textTarget);
    else if (partTarget !== undefined) {
      const empty = asFields(event["part"]) ?? partTarget.empty;
      this.findItem(event)?.openText(event, { ...partTarget, empty });
    } else this.readOther(type, event);
  }

  /** Returns an event with the numbers that its item and its part have in the order in which they were added. */
  private renumberEvent(event: Fields, type: string): Fields {
    const item = asFields(event["item"]);
    const place = this.places.place({
      type,
      outputIndex: asIndex(event["output_index"]),
      itemId: asText(item?.["id"]) ?? asText(event["item_id"]),
      itemType: asText(item?.["type"]),
      partIndex: asIndex(event["content_index"]) ?? asIndex(event["summary_index"]),
    });
    if (place === null) return event;
    const { output, part } = place;
    return {
      ...event,
      output_index: output,
      ...(part === null ? {} : { content_index: part, summary_index: part }),
    };
  }

  private readOther(type: string, event: Fields): void {
    switch (type) {
      case "response.output_item.added":
        this.beginItem(outputIndexOf(event), event["item"]);
        break;
      case "response.output_item.done":
        this.finishItem(outputIndexOf(event), asFields(event["item"]));
        break;
      case "response.output_text.annotation.added":
        this.findItem(event)?.appendAnnotation(event, OUTPUT_TEXT);
        break;
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta":
        this.findItem(event)?.appendArguments(event);
        break;
      case "response.completed":
      case "response.incomplete":
        this.finish(type, asFields(event["response"]) ?? {});
        break;
      case "response.failed":
      case "response.cancelled":
        this.failResponse(type, asFields(event["response"]) ?? {});
    }
  }

  private findItem(event: Fields): ItemReader | undefined {
    const item = this.items.get(outputIndexOf(event));
    return item?.isDone ? undefined : item;
  }

  private beginItem(outputIndex: number, raw: unknown): void {
    const item = asFields(raw);
    if (item === null || this.items.has(outputIndex)) return;
    this.items.set(outputIndex, new ItemReader(this.target, item));
  }

  private finishItem(outputIndex: number, done: Fields | null): void {
    if (done === null) return;
    this.beginItem(outputIndex, done);
    const item = this.items.get(outputIndex);
    if (item === undefined || item.isDone) return;
    if (isSearch(done)) this.searches += 1;
    item.finish(done);
  }

  private finish(type: string, response: Fields): void {
    // A host that streams nothing but the end has its output there.
    if (this.items.size === 0) {
      for (const [index, item] of asList(response["output"]).entries())
        this.finishItem(index, asFields(item));
    }
    for (const item of this.items.values()) item.close();
    this.emitter.emit({ kind: "extras", extras: markExtras(decodeFrame(response)) });
    const tier = readTier(response);
    if (tier !== null) this.emitter.emit({ kind: "service-tier", tier });
    const usage = readUsage(response, this.searches);
    if (usage !== null) this.emitter.emit({ kind: "usage", usage });
    const ended = { status: type.replace("response.", ""), ...response };
    const hasCalls = this.items.values().some((item) => item.isCall);
    this.emitter.emit({ kind: "finish", choice: 0, finish: decodeFinish(ended, hasCalls) });
    this.emitter.end();
  }

  private failResponse(type: string, response: Fields): void {
    const error = asFields(response["error"]);
    this.emitter.fail(
      error === null ? brokenAnswer(`the upstream ended with ${type}`) : readVendorError(200, { error }),
    );
  }
}

function asIndex(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function outputIndexOf(event: Fields): number {
  return asIndex(event["output_index"]) ?? 0;
}
