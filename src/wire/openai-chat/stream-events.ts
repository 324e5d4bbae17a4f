import { nameInMetadata } from "../../base/failures/errors.ts";
import type { Fields } from "../../base/json/fields.ts";
import { encodeLatin1 } from "../../base/json/scan.ts";
import type { AnswerIdentity, StreamError } from "../canonical/model/format.ts";

/** Stands for the text in a chunk that is encoded once as a template. */
export const TEXT_PLACEHOLDER = "\u0001";

/** The contents of the last events of a complete stream. */
interface StreamEnding {
  /** The last entry of each choice, with its finish reason. */
  readonly finishes: readonly Fields[];
  /** Further fields of the last finish. */
  readonly fields: Fields;
  readonly usage: Fields;
  /** The `gateway_metadata`, or null. */
  readonly metadata: Fields | null;
}

/** Encodes the chunks of one stream as server-sent events, bytes as Latin-1. */
export class ChunkEncoder {
  /** The beginning of every event: the fields that identify the stream. */
  readonly start: string;

  /** `wantsUsageChunk`: the client asked for `stream_options.include_usage`. */
  constructor(
    { id, created, model }: AnswerIdentity,
    private readonly wantsUsageChunk: boolean,
  ) {
    const identity = JSON.stringify({ id, object: "chat.completion.chunk", created, model });
    this.start = encodeLatin1(`data: ${identity.slice(0, -1)},`);
  }

  /** Encodes an event with these fields and choices. The fields in `last` follow the choices. */
  encodeEvent(fields: Fields, choices: unknown, last: Fields = {}): string {
    return this.start + encodeRest(fields, choices, last);
  }

  /**
   * Encodes the last events of a complete stream: one finish per choice, the usage, and `[DONE]`. Only the final chunk carries the usage: a
   * separate chunk if the client asked for one, otherwise the last finish (docs/api/chat.md, "Usage").
   */
  encodeEnding({ finishes, fields, usage, metadata }: StreamEnding): string {
    const ending = { usage, ...(metadata === null ? {} : { gateway_metadata: metadata }) };
    let out = "";
    for (const [index, finish] of finishes.entries()) {
      const isLast = index === finishes.length - 1;
      out += this.encodeEvent(isLast ? fields : {}, [finish], isLast && !this.wantsUsageChunk ? ending : {});
    }
    if (this.wantsUsageChunk) out += this.encodeEvent({}, [], ending);
    return `${out}data: [DONE]\n\n`;
  }
}

/** Encodes the rest of an event after its start. Arguments as for `encodeEvent`. */
function encodeRest(fields: Fields, choices: unknown, last: Fields = {}): string {
  return encodeLatin1(`${JSON.stringify({ ...fields, choices, ...last }).slice(1)}\n\n`);
}

/**
 * Encodes the last event of a stream that failed after its first token. No `[DONE]` follows. The event contains only the error:
 * client libraries read an event with `choices` as a chunk, report a finished answer and run incomplete tool calls.
 */
export function encodeStreamError(error: StreamError): string {
  const named = { ...error, metadata: nameInMetadata(error.type, error.metadata) };
  return encodeLatin1(`data: ${JSON.stringify({ error: named })}\n\n`);
}
