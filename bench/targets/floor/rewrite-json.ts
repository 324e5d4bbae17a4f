import { EventSplitter } from "../../../src/base/sse/split-events.ts";

/** The last event of a stream. */
const DONE = "[DONE]";
const MAX_EVENT_BYTES = 1_000_000;

/** Changes the pieces of a stream. */
interface StreamRewriter {
  /** Returns what the client gets for a piece of the upstream's. */
  step(piece: Uint8Array): Uint8Array;
}

/** Returns JSON that was parsed and printed. */
export function rewriteJson(body: Uint8Array): Buffer {
  return Buffer.from(
    JSON.stringify(JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString())),
  );
}

/** Creates a rewriter that parses and prints the JSON of each event. Pieces may be cut anywhere. */
export function createEventRewriter(): StreamRewriter {
  const splitter = new EventSplitter(MAX_EVENT_BYTES);
  return {
    step(piece) {
      let out = "";
      // Bytes as Latin-1 on both sides, as this gateway reads events: characters beyond ASCII pass as they are.
      const latin1 = Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString("latin1");
      for (const { text, start, end } of splitter.push(latin1)) {
        const data = text.slice(start, end);
        out += data === DONE ? `data: ${DONE}\n\n` : `data: ${JSON.stringify(JSON.parse(data))}\n\n`;
      }
      return Buffer.from(out, "latin1");
    },
  };
}

/** A rewriter that changes nothing. */
export const UNCHANGED: StreamRewriter = { step: (piece) => piece };

const END = Buffer.from(`data: ${DONE}\n\n`);

/** Returns whether a piece ends with the last event of a stream. */
export function endsStream(piece: Uint8Array): boolean {
  return END.equals(piece.subarray(Math.max(0, piece.length - END.length)));
}
