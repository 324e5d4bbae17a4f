import type { Fields } from "../../base/json/fields.ts";
import { encodeLatin1 } from "../../base/json/scan.ts";
import type { AnswerEnd, AnswerIdentity } from "../canonical/model/format.ts";
import { encodeUsage } from "../openai-chat/usage.ts";

/** The contents of the last events of a complete stream. */
interface CompletionEnding {
  /** The last entry of each choice, with its finish reason. */
  readonly finishes: readonly Fields[];
  /** Further fields of the last finish. */
  readonly fields: Fields;
  readonly end: AnswerEnd;
}

/** Encodes the events of one stream of a text completion. */
export class CompletionChunkEncoder {
  /** `wantsUsageChunk`: the client asked for `stream_options.include_usage`. */
  constructor(
    private readonly identity: AnswerIdentity,
    private readonly wantsUsageChunk: boolean,
  ) {}

  /** Encodes a server-sent event, bytes as Latin-1. The fields in `last` follow the choices. */
  encodeEvent(fields: Fields, choices: readonly Fields[], last: Fields = {}): string {
    const { id, created, model } = this.identity;
    const chunk = { id, object: "text_completion", created, model, ...fields, choices, ...last };
    return encodeLatin1(`data: ${JSON.stringify(chunk)}\n\n`);
  }

  /**
   * Encodes the last events of a complete stream: one finish per choice, the usage, and `[DONE]`. Only the final chunk carries the usage: a
   * separate chunk if the client asked for one, otherwise the last finish, as for chat completions.
   */
  encodeEnding({ finishes, fields, end: { report, metadata } }: CompletionEnding): string {
    const usage = encodeUsage(report);
    const ending = { usage, ...(metadata === null ? {} : { gateway_metadata: metadata }) };
    const events = finishes.map((finish, at) => {
      const isLast = at === finishes.length - 1;
      return this.encodeEvent(isLast ? fields : {}, [finish], isLast && !this.wantsUsageChunk ? ending : {});
    });
    if (this.wantsUsageChunk) events.push(this.encodeEvent({}, [], ending));
    return `${events.join("")}data: [DONE]\n\n`;
  }
}
