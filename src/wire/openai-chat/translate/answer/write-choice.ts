import { asFields, type Fields, omit } from "../../../../base/json/fields.ts";
import { encodeLatin1 } from "../../../../base/json/scan.ts";
import type { AnswerEvent, Finish } from "../../../canonical/model/answer.ts";
import type { Extras, Part } from "../../../canonical/model/parts.ts";
import { type ChunkEncoder, TEXT_PLACEHOLDER } from "../../stream-events.ts";
import { keptFields } from "../parts/extras.ts";
import { encodeMadeImage } from "../parts/made-images.ts";
import { encodeFinish, readAudio } from "./encode-response.ts";
import type { ChatPartWriter } from "./part-writer.ts";
import { CallWriter, FunctionCallWriter, TextWriter } from "./write-parts.ts";
import { ReasoningDetails, ReasoningWriter } from "./write-reasoning.ts";

/** An event of one choice. */
export type ChoiceEvent = Extract<AnswerEvent, { readonly choice: number }>;

/** Options of what the client does not see, or sees only in OpenAI's deprecated form. */
interface ChoiceOptions {
  readonly hidesReasoning: boolean;
  /** The client only knows `function_call`, which has room for a single call. */
  readonly usesFunctions: boolean;
}

const MESSAGE: ReadonlySet<string> = new Set(["message"]);

/** Encodes the events of one choice as entries of chunks. */
export class ChoiceWriter {
  private hasRole = false;
  /** Open parts by their index. Parts that the client does not see are not among them. */
  private readonly open = new Map<number, ChatPartWriter>();
  private readonly details = new ReasoningDetails();
  private callCount = 0;
  /** Log probabilities of the next delta's tokens, sent with it. */
  private logprobs: unknown = null;
  private finish: Finish | null = null;
  private extras: Extras | undefined;
  /** The bytes before and after the text of a chunk that has nothing else; null until there was one. */
  private frame: readonly [string, string] | null = null;

  constructor(
    readonly index: number,
    private readonly encoder: ChunkEncoder,
    private readonly options: ChoiceOptions,
  ) {}

  /**
   * Encodes a delta that has only text, as most have, around a chunk that was encoded before. Returns null for any other event. The
   * caller ensures that the chunk needs no other fields.
   */
  encodePlainText(event: ChoiceEvent): string | null {
    if (event.kind !== "part-delta" || event.delta.kind !== "text" || event.delta.text === "") return null;
    if (!this.hasRole || this.logprobs !== null || this.open.get(event.at)?.isText !== true) return null;
    this.frame ??= this.encodeFrame();
    return this.frame[0] + encodeLatin1(JSON.stringify(event.delta.text)) + this.frame[1];
  }

  /** Returns the entry to send for an event; null if there is none. */
  step(event: ChoiceEvent): Fields | null {
    switch (event.kind) {
      case "part-start":
        return this.encodeEntry(this.startPart(event.at, event.part));
      case "part-delta":
        return this.encodeEntry(this.open.get(event.at)?.append(event.delta) ?? null);
      case "part-end": {
        const part = this.open.get(event.at);
        this.open.delete(event.at);
        return this.encodeEntry(part?.end() ?? null);
      }
      case "logprobs":
        this.logprobs = event.value;
        return null;
      case "finish":
        this.finish = event.finish;
        this.extras = event.extras;
        return null;
    }
  }

  /** Returns the last entry: the finish, which is held until the end, and the choice's unknown fields. */
  encodeFinish(): Fields {
    const { index, finish, extras, logprobs } = this;
    const kept = extras === undefined ? {} : keptFields({ extras });
    return {
      index,
      delta: { ...(this.hasRole ? {} : { role: "assistant", content: "" }), ...asFields(kept["message"]) },
      ...omit(kept, MESSAGE),
      ...(logprobs === null ? {} : { logprobs }),
      ...(finish === null ? { finish_reason: "stop" } : encodeFinish(finish, this.options.usesFunctions)),
    };
  }

  private encodeFrame(): readonly [string, string] {
    const entry = { index: this.index, delta: { content: TEXT_PLACEHOLDER }, finish_reason: null };
    const event = this.encoder.encodeEvent({}, [entry]);
    const [head = "", tail = ""] = event.split(JSON.stringify(TEXT_PLACEHOLDER));
    return [head, tail];
  }

  /** Adds index and log probabilities to a delta; the first one of a choice names the role. Returns null for no delta. */
  private encodeEntry(delta: Fields | null): Fields | null {
    if (delta === null) return null;
    const { index, logprobs, hasRole } = this;
    this.logprobs = null;
    this.hasRole = true;
    return {
      index,
      delta: hasRole ? delta : { role: "assistant", ...delta },
      ...(logprobs === null ? {} : { logprobs }),
      finish_reason: null,
    };
  }

  private startPart(at: number, part: Part): Fields | null {
    if (part.kind === "image") return { images: [encodeMadeImage(part, "", () => {})] };
    const writer = this.createPartWriter(part);
    if (writer === null) {
      const audio = readAudio(part);
      return audio === null ? null : { audio };
    }
    this.open.set(at, writer);
    return writer.start();
  }

  /** Returns the writer of a part that may grow; null for parts that come whole, or that the client does not see. */
  private createPartWriter(part: Part): ChatPartWriter | null {
    const { hidesReasoning, usesFunctions } = this.options;
    switch (part.kind) {
      case "text":
      case "refusal":
        return new TextWriter(part, this.details);
      case "reasoning":
        return hidesReasoning ? null : new ReasoningWriter(part, this.details);
      case "tool-call": {
        const index = this.callCount++;
        if (!usesFunctions) return new CallWriter(part, index, this.details);
        // `function_call` has room for one call. The model may repeat the others after it got the first result.
        return index > 0 ? null : new FunctionCallWriter(part);
      }
      default:
        return null;
    }
  }
}
