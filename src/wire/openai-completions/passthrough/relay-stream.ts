import {
  asObjects,
  assignFields,
  asText,
  type Fields,
  omit,
  tryParseLatin1,
} from "../../../base/json/fields.ts";
import { BOUNDS } from "../../../base/numbers/bounds.ts";
import type { SplitEvent } from "../../../base/sse/split-events.ts";
import { DONE_MARKER, ForwardedStream } from "../../canonical/answer/event-stream.ts";
import type { AnswerRelay, RelayEnding, RelayFinish, RelayIdentity } from "../../canonical/answer/relay.ts";
import type { AnswerEnd, StreamError } from "../../canonical/model/format.ts";
import { EVENT_NOT_JSON, failedFinish, TOO_MANY_CHOICES } from "../../conversation/errors/broken-answers.ts";
import { findEventError } from "../../conversation/errors/vendor-error.ts";
import type { TokenUsage } from "../../conversation/usage.ts";
import { isFailedFinish } from "../../openai-chat/finish-reason.ts";
import { OWN_ANSWER_FIELDS } from "../../openai-chat/own-fields.ts";
import { encodeStreamError } from "../../openai-chat/stream-events.ts";
import { findUsage } from "../../openai-chat/usage.ts";
import { CompletionChunkEncoder } from "../encode-chunks.ts";
import { encodeFinish, OWN_CHOICE_FIELDS, readFinish } from "./relay-response.ts";

interface Choice {
  /** Null until it arrives. */
  finish: RelayFinish | null;
  /** Fields that are sent with the finish. */
  readonly finishFields: Record<string, unknown>;
}

/**
 * Relays a stream of text completions between an upstream and a client that both speak this format. Finish reasons are held until
 * the end, where the cost is known. A completion without text is valid.
 */
export class CompletionRelay extends ForwardedStream implements AnswerRelay {
  usage: TokenUsage | null = null;
  readonly searches = 0;
  private readonly encoder: CompletionChunkEncoder;
  private readonly choices = new Map<number, Choice>();
  /** Fields of events for which nothing was sent. They are sent with the last event. */
  private readonly carried: Record<string, unknown> = {};

  /** `wantsUsageChunk`: the client asked for `stream_options.include_usage`. */
  constructor(identity: RelayIdentity, wantsUsageChunk: boolean) {
    super();
    this.encoder = new CompletionChunkEncoder(identity, wantsUsageChunk);
  }

  get isFinished(): boolean {
    return this.choices.size > 0 && this.choices.values().every(({ finish }) => finish !== null);
  }

  classifyEnd(): RelayEnding {
    if (this.error !== null) return "failed";
    return this.isFinished ? "complete" : "unfinished";
  }

  finish(): RelayFinish | null {
    return (this.choices.get(0) ?? [...this.choices.values()][0])?.finish ?? null;
  }

  stopShort(): string {
    this.isDone = true;
    this.finishAll("length");
    return "";
  }

  encodeEnd(end: AnswerEnd): string {
    const choices = [...this.choices].toSorted(([a], [b]) => a - b);
    const finishes = choices.map(([index, { finish, finishFields }]) => ({
      text: "",
      index,
      logprobs: null,
      ...finishFields,
      ...encodeFinish(finish ?? readFinish(null)),
    }));
    return this.encoder.encodeEnding({ finishes, fields: this.carried, end });
  }

  encodeError(error: StreamError): string {
    return encodeStreamError(error);
  }

  protected readEvent({ text, start, end, name }: SplitEvent): void {
    if (text.startsWith(DONE_MARKER, start)) {
      this.isDone = true;
      // Usage and an end marker make an answer complete even if the vendor gives no finish reason.
      if (this.usage !== null) this.finishAll("stop");
      return;
    }
    const chunk = tryParseLatin1(text.slice(start, end));
    this.error = chunk === null ? EVENT_NOT_JSON : findEventError(chunk, name);
    if (chunk === null || this.error !== null) return;
    this.usage = findUsage(chunk) ?? this.usage;
    const fields = omit(chunk, OWN_ANSWER_FIELDS);
    const sent = asObjects(chunk["choices"]).map((choice, at) => this.readChoice(choice, at));
    const entries = sent.filter((entry) => entry !== null);
    if (entries.length > 0) this.out.push(this.encoder.encodeEvent(fields, entries));
    else assignFields(this.carried, omit(fields, NOT_CARRIED));
  }

  /** Reads an entry of a chunk. Returns the entry to send now; null for none. */
  private readChoice(raw: Fields, position: number): Fields | null {
    const index = typeof raw["index"] === "number" ? raw["index"] : position;
    const choice = this.openChoice(index);
    if (choice === null) return null;
    const text = asText(raw["text"]) ?? "";
    const others = omit(raw, OWN_CHOICE_FIELDS);
    const reason = raw["finish_reason"];
    if (typeof reason === "string") this.holdFinish(choice, reason);
    // Tokens that are only a part of a character have no text, but log probabilities.
    if (text === "" && (others["logprobs"] ?? null) === null) {
      assignFields(choice.finishFields, others);
      return null;
    }
    this.sawToken = true;
    this.producedBytes += Buffer.byteLength(text);
    return { text, index, logprobs: null, ...others, finish_reason: null };
  }

  private openChoice(index: number): Choice | null {
    const known = this.choices.get(index);
    if (known !== undefined) return known;
    if (this.choices.size >= BOUNDS.completionChoices) {
      this.error = TOO_MANY_CHOICES;
      return null;
    }
    const choice: Choice = { finish: null, finishFields: {} };
    this.choices.set(index, choice);
    return choice;
  }

  /** Keeps the first finish reason for the end. */
  private holdFinish(choice: Choice, reason: string): void {
    if (isFailedFinish(reason)) this.error = failedFinish(reason);
    choice.finish ??= readFinish(reason);
  }

  private finishAll(reason: string): void {
    for (const choice of this.choices.values()) choice.finish ??= readFinish(reason);
  }
}

/** Padding that hides the length of tokens, which is of no use in another event. */
const NOT_CARRIED: ReadonlySet<string> = new Set(["obfuscation"]);
