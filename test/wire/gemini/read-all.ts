import { encodeLatin1 } from "../../../src/base/json/scan.ts";
import type { AnswerEvent } from "../../../src/wire/canonical/model/answer.ts";
import { gemini } from "../../../src/wire/gemini/codec.ts";

/** Returns the events of a stream that arrives in these pieces and ends. */
export function readAll(pieces: readonly string[]): AnswerEvent[] {
  const reader = gemini.createReader();
  return [...pieces.flatMap((piece) => reader.step(piece)), ...reader.end()];
}

/** Encodes responses as a stream, bytes as Latin-1. */
export function encodeStream(responses: readonly unknown[]): string {
  return encodeLatin1(responses.map((response) => `data: ${JSON.stringify(response)}\r\n\r\n`).join(""));
}
