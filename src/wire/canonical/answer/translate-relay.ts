import { asFields } from "../../../base/json/fields.ts";
import { BOUNDS } from "../../../base/numbers/bounds.ts";
import {
  ANSWER_UNREADABLE,
  answerTooLarge,
  EVENT_UNREADABLE,
  NO_CHOICES,
} from "../../conversation/errors/broken-answers.ts";
import type { VendorError } from "../../conversation/errors/vendor-error.ts";
import type { TokenUsage } from "../../conversation/usage.ts";
import type { Warning } from "../../conversation/warning.ts";
import type { Answer, AnswerEvent, Finish, PartDelta } from "../model/answer.ts";
import { FINISH_WORDS } from "../model/finish-words.ts";
import type {
  AnswerDecoding,
  AnswerEnd,
  AnswerReader,
  AnswerWriter,
  AskedFor,
  ClientCodec,
  StreamError,
} from "../model/format.ts";
import type { Part } from "../model/parts.ts";
import { createTurnWatcher, observeParts } from "./called-turn.ts";
import { collectAnswer, replayAnswer } from "./collect-answer.ts";
import { correctAnswer } from "./correct-answer.ts";
import { type AnswerFilter, filterEvents } from "./filter-answer.ts";
import { type AnswerNormaliser, createNormaliser } from "./normalise-answer.ts";
import type { AnswerRelay, RelayEnding, RelayFinish, RelayIdentity, WholeAnswer } from "./relay.ts";

/**
 * Translates a vendor's stream into the client's format. `maxBufferedBytes` limits the size of the answer, because writers of some
 * formats keep all of it for their last event.
 */
export class TranslatedRelay implements AnswerRelay {
  error: VendorError | null = null;
  private readonly normaliser: AnswerNormaliser;
  private readonly counter = new ContentCounter();
  private readonly observeTurn: (event: AnswerEvent) => void;
  private latestUsage: TokenUsage | null = null;
  private hasEnded = false;
  private readonly filter: AnswerFilter | null;
  /** Whether content that the client's format cannot express is stored with the turns. */
  private readonly isRemembered: () => boolean;
  readonly release?: () => Promise<string>;
  /** The output for events that the reader had held back when the stream broke off. */
  private heldBack = "";

  constructor(
    private readonly reader: AnswerReader,
    private readonly writer: AnswerWriter,
    identity: RelayIdentity,
    private readonly maxBufferedBytes: number = BOUNDS.answerBytes,
  ) {
    this.normaliser = createNormaliser(identity);
    this.observeTurn = createTurnWatcher(identity.onTurn, reader.signsTexts === true);
    this.isRemembered = () => reader.signsTexts === true && identity.remembersTurns === true;
    this.filter = identity.filter ?? null;
    const release = this.filter?.release ?? null;
    if (release !== null) this.release = () => this.encodeReleased(release);
  }

  step(piece: string): string {
    if (this.error !== null || this.hasEnded || this.reader.isDone) return "";
    return this.pass(() => this.reader.step(piece));
  }

  end(): string {
    if (this.error !== null || this.hasEnded) return "";
    this.hasEnded = true;
    return this.pass(() => this.reader.end());
  }

  get sawToken(): boolean {
    return this.counter.sawToken;
  }

  get isDone(): boolean {
    return this.reader.isDone;
  }

  get isFinished(): boolean {
    return isFinished(this.normaliser.finishes);
  }

  get usage(): TokenUsage | null {
    return this.reader.countSoFar?.() ?? this.latestUsage;
  }

  get searches(): number {
    return this.counter.searches;
  }

  get producedBytes(): number {
    return this.counter.bytes;
  }

  classifyEnd(): RelayEnding {
    this.readHeldBack();
    return this.error !== null ? "failed" : classify(this.normaliser.finishes, this.counter.sawToken);
  }

  finish(): RelayFinish | null {
    return firstFinish(this.normaliser.finishes);
  }

  stopShort(): string {
    this.hasEnded = true;
    const open = [...this.normaliser.finishes].filter(([, finish]) => finish === null);
    return this.pass(() => open.map(([choice]) => ({ kind: "finish", choice, finish: CUT_SHORT })));
  }

  listWarnings(): readonly Warning[] {
    return this.isRemembered() ? [] : (this.writer.listForgotten?.() ?? []);
  }

  encodeEnd(end: AnswerEnd): string {
    return this.heldBack + this.writer.end(end);
  }

  encodeError(error: StreamError): string {
    return this.heldBack + this.writer.fail(error);
  }

  /** Returns what to send for the events that `read` returns. */
  private pass(read: () => readonly AnswerEvent[]): string {
    const out: string[] = [];
    try {
      const events = this.correct(read());
      for (const event of events) this.observeTurn(event);
      // Each is sent even if a later one cannot be encoded.
      for (const event of this.applyFilter(events)) out.push(this.writer.step(event));
    } catch {
      // Errors become an error event, so that the client never waits forever.
      this.error ??= EVENT_UNREADABLE;
    }
    return out.join("");
  }

  /** Returns the corrected events, up to an error or up to the event that makes the answer too large. */
  private correct(events: readonly AnswerEvent[]): readonly AnswerEvent[] {
    const { counter } = this;
    const corrected: AnswerEvent[] = [];
    for (const event of events) {
      if (event.kind === "error") {
        this.error = event.error;
        break;
      }
      if (event.kind === "usage") this.latestUsage = event.usage;
      for (const normal of this.normaliser.step(event)) {
        if ("at" in normal) counter.add(normal);
        corrected.push(normal);
      }
      if (counter.bytes + counter.hiddenBytes <= this.maxBufferedBytes) continue;
      this.error = answerTooLarge(this.maxBufferedBytes);
      break;
    }
    return corrected;
  }

  private applyFilter(events: readonly AnswerEvent[]): readonly AnswerEvent[] {
    const { filter } = this;
    return filter === null ? events : events.flatMap((event) => filter.step(event));
  }

  private async encodeReleased(release: () => Promise<readonly AnswerEvent[]>): Promise<string> {
    const before = this.heldBack;
    this.heldBack = "";
    const released = await release();
    return before + released.map((event) => this.writer.step(event)).join("");
  }

  /** Reads what the reader held back. A stream that broke off may still have arrived completely. */
  private readHeldBack(): void {
    if (this.hasEnded || this.reader.isDone || this.error !== null) return;
    this.hasEnded = true;
    this.heldBack = this.pass(() => this.reader.end().filter((event) => event.kind !== "error"));
  }
}

const CUT_SHORT: Finish = { reason: "length", native: "length", stopSequence: null };

function isFinished(finishes: ReadonlyMap<number, Finish | null>): boolean {
  return finishes.size > 0 && [...finishes.values()].every((finish) => finish !== null);
}

function classify(finishes: ReadonlyMap<number, Finish | null>, sawToken: boolean): RelayEnding {
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
  return first === null ? null : relayFinishOf(first);
}

function relayFinishOf({ reason, native }: Finish): RelayFinish {
  return { client: FINISH_WORDS[reason], native };
}

/** The client and the generation that an answer is encoded for. */
interface AnswerRecipient {
  readonly codec: Pick<ClientCodec, "encodeAnswer">;
  readonly identity: RelayIdentity;
  readonly asked: AskedFor;
}

/** Translates a whole answer with the same corrections as a stream. The result lacks only its cost. */
export function createWholeTranslation(decoding: AnswerDecoding, recipient: AnswerRecipient): WholeAnswer {
  if (decoding.kind === "error") return decoding;
  try {
    const { filter = null } = recipient.identity;
    return filter === null
      ? translateWhole(decoding.answer, recipient)
      : translateFiltered(decoding.answer, recipient, filter);
  } catch {
    return { kind: "error", error: ANSWER_UNREADABLE };
  }
}

function translateWhole(given: Answer, { codec, identity, asked }: AnswerRecipient): WholeAnswer {
  const answer = correctAnswer(given, identity);
  const { choices } = answer;
  const [lowest] = choices;
  if (lowest === undefined) return { kind: "error", error: NO_CHOICES };
  const counter = new ContentCounter();
  for (const { parts } of choices) for (const part of parts) counter.addPart(part);
  if (lowest.index === 0) observeParts(lowest.parts, identity.onTurn);
  // Without a choice at 0, the finish of the vendor's first choice counts.
  const first = lowest.index === 0 ? 0 : given.choices[0]?.index;
  const { finish } = choices.find(({ index }) => index === first) ?? lowest;
  return {
    kind: "answer",
    isEmpty: !counter.sawToken && choices.every((choice) => FINISH_WORDS[choice.finish.reason] === "stop"),
    usage: answer.usage,
    producedBytes: counter.bytes,
    finish: relayFinishOf(finish),
    encode: (end) => JSON.stringify(codec.encodeAnswer(answer, { identity, end, asked })),
  };
}

/** Translates a whole answer through its events, which the filter reads. */
function translateFiltered(
  given: Answer,
  { codec, identity, asked }: AnswerRecipient,
  filter: AnswerFilter,
): WholeAnswer {
  const normaliser = createNormaliser(identity);
  const counter = new ContentCounter();
  const events = [...replayAnswer(given)].flatMap((event) => normaliser.step(event));
  for (const event of events) counter.add(event);
  events.forEach(createTurnWatcher(identity.onTurn, true));
  let answer = collectAnswer(events);
  const finish = firstFinish(normaliser.finishes);
  if (finish === null) return { kind: "error", error: NO_CHOICES };
  return {
    kind: "answer",
    isEmpty: isEmptyAnswer(normaliser.finishes, counter.sawToken),
    usage: answer.usage,
    producedBytes: counter.bytes,
    finish,
    applyFilter: async (pause) => {
      answer = collectAnswer(await filterEvents(events, filter, pause));
    },
    encode: (end) => JSON.stringify(codec.encodeAnswer(answer, { identity, end, asked })),
  };
}

/** Counts the content of an answer. */
class ContentCounter {
  /** Bytes of text. */
  bytes = 0;
  /** Bytes of media, signatures and native parts: they are held in memory and not counted as text. */
  hiddenBytes = 0;
  /** Whether any content for a person or agent has arrived. */
  sawToken = false;
  /** The number of the vendor's web searches. */
  searches = 0;

  add(event: AnswerEvent): void {
    if (event.kind === "part-start") {
      this.addPart(event.part);
      this.hiddenBytes += hiddenSizeOf(event.part);
    } else if (event.kind === "part-delta") {
      const size = sizeOfDelta(event.delta);
      this.bytes += size;
      this.hiddenBytes += "value" in event.delta ? event.delta.value.length : 0;
      this.sawToken ||= size > 0;
    }
  }

  /** Adds a part, whole or as it starts, without its hidden bytes. */
  addPart(part: Part): void {
    this.bytes += sizeOfPart(part);
    this.sawToken ||= hasContent(part);
    if (isSearch(part)) this.searches += 1;
  }
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

function hasContent(part: Part): boolean {
  return "text" in part ? part.text !== "" : true;
}

function sizeOfDelta(delta: PartDelta): number {
  return "text" in delta ? Buffer.byteLength(delta.text) : 0;
}
