import type { AnswerIdentity, StreamError } from "../canonical/format.ts";
import type { Fields } from "../json/fields.ts";
import { encodeLatin1 } from "../json/scan.ts";

/** Stands for the text in a chunk that is printed once and then cut up around it. */
export const TEXT_HOLE = "\u0001";

/** Prints a chunk as JSON. The fields in `last` follow the choices. */
export function encodeChunk(
  { id, created, model }: AnswerIdentity,
  fields: Fields,
  choices: unknown,
  last: Fields = {},
): string {
  return JSON.stringify({ id, object: "chat.completion.chunk", created, model, ...fields, choices, ...last });
}

/** Prints a chunk as a server-sent event, bytes as Latin-1. */
export function encodeChunkEvent(
  identity: AnswerIdentity,
  fields: Fields,
  choices: unknown,
  last: Fields = {},
): string {
  return encodeLatin1(`data: ${encodeChunk(identity, fields, choices, last)}\n\n`);
}

/**
 * Prints the last events of a complete stream: one finish per choice, the usage, and `[DONE]`. Only the final chunk carries the
 * usage: a chunk of its own if the client asked for one, else the last finish (docs/api/chat.md, "Usage"). `finishes`
 * are the last entries of the choices, `fields` are added to the last of them, and `metadata` is the `gateway_metadata`.
 */
export function encodeEnding(
  identity: AnswerIdentity & { readonly wantsUsageChunk: boolean },
  finishes: readonly Fields[],
  fields: Fields,
  usage: Fields,
  metadata: Fields | null,
): string {
  const ending = { usage, ...(metadata === null ? {} : { gateway_metadata: metadata }) };
  const { wantsUsageChunk } = identity;
  let out = "";
  finishes.forEach((finish, place) => {
    const isLast = place === finishes.length - 1;
    out += encodeChunkEvent(
      identity,
      isLast ? fields : {},
      [finish],
      isLast && !wantsUsageChunk ? ending : {},
    );
  });
  if (wantsUsageChunk) out += encodeChunkEvent(identity, {}, [], ending);
  return `${out}data: [DONE]\n\n`;
}

/**
 * Prints the last event of a stream that failed after its first token. No `[DONE]` follows. The event holds nothing but the error:
 * client libraries read an event with `choices` as a chunk, report a finished answer and run incomplete tool calls.
 */
export function encodeStreamError(error: StreamError): string {
  return encodeLatin1(`data: ${JSON.stringify({ error })}\n\n`);
}
