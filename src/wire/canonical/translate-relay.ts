import { BOUNDS } from "../../base/bounds.ts";
import type { TokenUsage } from "../conversation/usage.ts";
import { brokenAnswer, type VendorError } from "../conversation/vendor-error.ts";
import { asFields } from "../json/fields.ts";
import type { AnswerEvent, Finish, PartDelta } from "./answer.ts";
import { createTurnWatcher } from "./called-turn.ts";
import { collectAnswer, replayAnswer } from "./collect-answer.ts";
import { FINISH_WORDS } from "./finish-words.ts";
import type { AnswerDecoding, AnswerReader, AnswerWriter, AskedFor, ClientCodec } from "./format.ts";
import { createNormaliser } from "./normalise-answer.ts";
import type { Part } from "./parts.ts";
import type { AnswerRelay, RelayFinish, RelayIdentity, RelayVerdict, WholeAnswer } from "./relay.ts";

/**
 * Translates a vendor's stream into the client's format. `maxBufferedBytes` limits the size of the answer, because writers of some
 * formats keep all of it for their last event.
 */
export function createTranslation(
  reader: AnswerReader,
  writer: AnswerWriter,
  identity: RelayIdentity,
  maxBufferedBytes: number = BOUNDS.answerBytes,
): AnswerRelay {
  const normaliser = createNormaliser(identity);
  const count = createCounter();
  const watchTurn = createTurnWatcher(identity.onTurn, reader.signsTexts === true);
  let usage: TokenUsage | null = null;
  let error: VendorError | null = null;
  let hasEnded = false;
  /** What to send for events that the reader had held back when the stream broke off. */
  let heldBack = "";

  const take = (event: AnswerEvent): string => {
    if (error !== null) return "";
    if (event.kind === "error") {
      error = event.error;
      return "";
    }
    if (event.kind === "usage") usage = event.usage;
    let out = "";
    for (const normal of normaliser.step(event)) {
      count.step(normal);
      watchTurn(normal);
      out += writer.step(normal);
    }
    if (count.bytes + count.hiddenBytes > maxBufferedBytes)
      error = brokenAnswer(`an answer of over ${maxBufferedBytes} bytes`);
    return out;
  };

  const takeAll = (read: () => readonly AnswerEvent[]): string => {
    const out: string[] = [];
    try {
      for (const event of read()) out.push(take(event));
    } catch {
      // Whatever a vendor sends, the client must get an error event and not wait forever.
      error ??= brokenAnswer("an event of the stream cannot be read");
    }
    return out.join("");
  };

  /** Reads what the reader held back. A stream that broke off may still have arrived completely. */
  const settle = (): void => {
    if (hasEnded || reader.isDone || error !== null) return;
    hasEnded = true;
    heldBack = takeAll(() => reader.end().filter((event) => event.kind !== "error"));
  };

  return {
    step: (piece) => (error !== null || hasEnded || reader.isDone ? "" : takeAll(() => reader.step(piece))),
    end() {
      if (error !== null || hasEnded) return "";
      hasEnded = true;
      return takeAll(() => reader.end());
    },
    get sawToken() {
      return count.sawToken;
    },
    get isDone() {
      return reader.isDone;
    },
    get isFinished() {
      return isFinished(normaliser.finishes);
    },
    get error() {
      return error;
    },
    get usage() {
      return reader.countSoFar?.() ?? usage;
    },
    get searches() {
      return count.searches;
    },
    get producedBytes() {
      return count.bytes;
    },
    judge() {
      settle();
      return error !== null ? "failed" : judge(normaliser.finishes, count.sawToken);
    },
    finish: () => firstFinish(normaliser.finishes),
    stopShort() {
      hasEnded = true;
      const open = [...normaliser.finishes].filter(([, finish]) => finish === null);
      return open.map(([choice]) => take({ kind: "finish", choice, finish: CUT_SHORT })).join("");
    },
    encodeEnd: (end) => heldBack + writer.end(end),
    encodeError: (failure) => heldBack + writer.fail(failure),
  };
}

const CUT_SHORT: Finish = { reason: "length", native: "length", stopSequence: null };

function isFinished(finishes: ReadonlyMap<number, Finish | null>): boolean {
  return finishes.size > 0 && [...finishes.values()].every((finish) => finish !== null);
}

function judge(finishes: ReadonlyMap<number, Finish | null>, sawToken: boolean): RelayVerdict {
  if (!isFinished(finishes)) return "unfinished";
  return isEmptyAnswer(finishes, sawToken) ? "empty" : "complete";
}

/**
 * Whether all choices stopped normally without any content. Vendors may still have counted tokens, for hidden reasoning or the end
 * token.
 */
function isEmptyAnswer(finishes: ReadonlyMap<number, Finish | null>, sawToken: boolean): boolean {
  if (sawToken) return false;
  return finishes.values().every((finish) => finish !== null && FINISH_WORDS[finish.reason] === "stop");
}

function firstFinish(finishes: ReadonlyMap<number, Finish | null>): RelayFinish | null {
  const first = finishes.get(0) ?? [...finishes.values()][0] ?? null;
  return first === null ? null : { client: FINISH_WORDS[first.reason], native: first.native };
}

/** Translates a whole answer with the same corrections. Only its cost is still missing. */
export function createWholeTranslation(
  decoding: AnswerDecoding,
  codec: Pick<ClientCodec, "encodeAnswer">,
  identity: RelayIdentity,
  asked: AskedFor,
): WholeAnswer {
  if (decoding.kind === "error") return decoding;
  try {
    const normaliser = createNormaliser(identity);
    const count = createCounter();
    const events = [...replayAnswer(decoding.answer)].flatMap((event) => normaliser.step(event));
    events.forEach(count.step);
    events.forEach(createTurnWatcher(identity.onTurn, true));
    const answer = collectAnswer(events);
    const finish = firstFinish(normaliser.finishes);
    if (finish === null) return failed("the upstream's answer has no choices");
    return {
      kind: "answer",
      isEmpty: isEmptyAnswer(normaliser.finishes, count.sawToken),
      usage: answer.usage,
      producedBytes: count.bytes,
      finish,
      encode: (end) => JSON.stringify(codec.encodeAnswer(answer, identity, end, asked)),
    };
  } catch {
    return failed("the upstream's answer cannot be read");
  }
}

function failed(message: string): WholeAnswer {
  return { kind: "error", error: brokenAnswer(message) };
}

interface Counter {
  /** Bytes of text. */
  readonly bytes: number;
  /** Bytes of media, signatures and native parts: not read by the client, but held in memory. */
  readonly hiddenBytes: number;
  /** Whether any content for a person or agent has arrived. */
  readonly sawToken: boolean;
  /** The number of the vendor's web searches. */
  readonly searches: number;
  step(event: AnswerEvent): void;
}

/** Returns a counter of an answer's content. */
function createCounter(): Counter {
  let bytes = 0;
  let hiddenBytes = 0;
  let sawToken = false;
  let searches = 0;
  return {
    get searches() {
      return searches;
    },
    get hiddenBytes() {
      return hiddenBytes;
    },
    get bytes() {
      return bytes;
    },
    get sawToken() {
      return sawToken;
    },
    step(event) {
      if (event.kind === "part-start") {
        bytes += sizeOfPart(event.part);
        hiddenBytes += hiddenSizeOf(event.part);
        sawToken ||= saysOf(event.part);
        if (isSearch(event.part)) searches += 1;
      } else if (event.kind === "part-delta") {
        const size = sizeOfDelta(event.delta);
        bytes += size;
        hiddenBytes += "value" in event.delta ? event.delta.value.length : 0;
        sawToken ||= size > 0;
      }
    },
  };
}

function sizeOfPart(part: Part): number {
  if ("text" in part) return Buffer.byteLength(part.text);
  return part.kind === "tool-call" ? Buffer.byteLength(part.name) + Buffer.byteLength(part.arguments) : 0;
}

function hiddenSizeOf(part: Part): number {
  if (part.kind === "native") return JSON.stringify(part.value).length;
  if (part.kind === "reasoning") return (part.signature ?? "").length + (part.encrypted ?? "").length;
  return "source" in part && part.source.kind === "base64" ? part.source.data.length : 0;
}

/** Whether a part is a web search. Anthropic names the tool within the block, OpenAI and xAI by the type of the item. */
function isSearch(part: Part): boolean {
  if (part.kind !== "native") return false;
  const { type, value } = part;
  if (type === "server_tool_use") return value["name"] === "web_search";
  const action = asFields(value["action"])?.["type"] ?? "search";
  return SEARCHES.has(type) && action === "search";
}

const SEARCHES: ReadonlySet<string> = new Set(["web_search_call", "x_search_call"]);

function saysOf(part: Part): boolean {
  return "text" in part ? part.text !== "" : true;
}

function sizeOfDelta(delta: PartDelta): number {
  return "text" in delta ? Buffer.byteLength(delta.text) : 0;
}
