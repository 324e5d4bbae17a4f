import type { AnswerEvent, Finish } from "../../canonical/model/answer.ts";
import type {
  AnswerEnd,
  AnswerIdentity,
  AnswerWriter,
  AskedFor,
  StreamError,
} from "../../canonical/model/format.ts";
import type { Part } from "../../canonical/model/parts.ts";
import { encodeStreamError } from "../../openai-chat/stream-events.ts";
import { CompletionChunkEncoder } from "../encode-chunks.ts";
import { encodeFinish, TEXTS } from "./encode-response.ts";

/** Returns a writer of a stream for a client of this API (docs/api/completions.md). */
export function createWriter(identity: AnswerIdentity, asked: AskedFor): AnswerWriter {
  return new CompletionWriter(new CompletionChunkEncoder(identity, asked.wantsUsageChunk));
}

interface Choice {
  /** The fields that the texts of open parts go to, by the index of the part. Parts of other kinds are absent. */
  readonly fields: Map<number, "text" | "reasoning">;
  finish: Finish | null;
}

class CompletionWriter implements AnswerWriter {
  private readonly choices = new Map<number, Choice>();

  constructor(private readonly encoder: CompletionChunkEncoder) {}

  step(event: AnswerEvent): string {
    if (!("choice" in event)) return "";
    const choice = this.choiceAt(event.choice);
    switch (event.kind) {
      case "part-start":
        return this.startPart(choice, event);
      case "part-delta":
        return event.delta.kind === "text" ? this.encode(choice, event, event.delta.text) : "";
      case "part-end":
        choice.fields.delete(event.at);
        return "";
      case "finish":
        choice.finish = event.finish;
        return "";
      case "logprobs":
        return "";
    }
  }

  end(end: AnswerEnd): string {
    const choices = [...this.choices].toSorted(([a], [b]) => a - b);
    const finishes = choices.map(([index, { finish }]) => ({
      text: "",
      index,
      logprobs: null,
      ...(finish === null ? { finish_reason: "stop" } : encodeFinish(finish)),
    }));
    return this.encoder.encodeEnding({ finishes, fields: {}, end });
  }

  fail(error: StreamError): string {
    return encodeStreamError(error);
  }

  private startPart(choice: Choice, event: Extract<AnswerEvent, { kind: "part-start" }>): string {
    const { part, at } = event;
    const field = fieldOf(part);
    if (field === null) return "";
    choice.fields.set(at, field);
    return this.encode(choice, event, "text" in part ? part.text : "");
  }

  private encode(
    { fields }: Choice,
    { choice: index, at }: { readonly choice: number; readonly at: number },
    text: string,
  ): string {
    const field = fields.get(at);
    if (field === undefined || text === "") return "";
    return this.encoder.encodeEvent({}, [
      { text: "", index, logprobs: null, [field]: text, finish_reason: null },
    ]);
  }

  private choiceAt(index: number): Choice {
    let choice = this.choices.get(index);
    if (choice === undefined) {
      choice = { fields: new Map(), finish: null };
      this.choices.set(index, choice);
    }
    return choice;
  }
}

/** Returns the field of a choice that gets the text of a part; null for parts that clients of this API do not get. */
function fieldOf({ kind }: Part): "text" | "reasoning" | null {
  if (TEXTS.has(kind)) return "text";
  return kind === "reasoning" ? "reasoning" : null;
}
