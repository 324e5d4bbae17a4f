import type { AnswerEvent } from "../../../src/wire/canonical/answer.ts";
import { gemini } from "../../../src/wire/gemini/codec.ts";
import { encodeLatin1 } from "../../../src/wire/json/scan.ts";

/** The events of a stream that comes in these pieces and ends. */
export function readAll(pieces: readonly string[]): AnswerEvent[] {
  const reader = gemini.createReader();
  return [...pieces.flatMap((piece) => reader.step(piece)), ...reader.end()];
}

/** Responses as a stream on the wire, bytes read as Latin-1. */
export function sayStream(responses: readonly unknown[]): string {
  return encodeLatin1(responses.map((response) => `data: ${JSON.stringify(response)}\r\n\r\n`).join(""));
}
