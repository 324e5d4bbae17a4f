import type { AnswerIdentity, StreamError } from "../canonical/format.ts";
import type { Fields } from "../json/fields.ts";
import { encodeLatin1 } from "../json/scan.ts";

/** Stands for the text in a chunk that is printed once and then cut up around it. */
export const TEXT_HOLE = "\u0001";

/** A chunk as JSON. `last` stands behind the choices. */
export function encodeChunk(
  { id, created, model }: AnswerIdentity,
  fields: Fields,
  choices: unknown,
  last: Fields = {},
): string {
  return JSON.stringify({ id, object: "chat.completion.chunk", created, model, ...fields, choices, ...last });
}

/** A chunk as an event, bytes read as Latin-1. */
export function encodeChunkEvent(
  identity: AnswerIdentity,
  fields: Fields,
  choices: unknown,
  last: Fields = {},
): string {
  return encodeLatin1(`data: ${encodeChunk(identity, fields, choices, last)}\n\n`);
}

/**
 * The last events of a complete stream: one finish a choice, the usage, `[DONE]`. Only the final chunk carries the
 * usage: one of its own for a client that asked, else the last finish (docs/contract.md, "Chat completions").
 * `finishes` are the choices' last entries, `fields` go with the last of them, `metadata` is the `gateway_metadata`.
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
 * The last event of a stream that broke after its first token; no `[DONE]` follows it. It is the error alone: client
 * libraries that find `choices` in it read it as a chunk, report a finished answer and run half a tool call.
 */
export function encodeStreamError(error: StreamError): string {
  return encodeLatin1(`data: ${JSON.stringify({ error })}\n\n`);
}
