import { AnswerWriter, WHOLE_ANSWER } from "../../core/generation/answer-writer.ts";
import type { UnreadAnswers } from "../../core/generation/unread-answers.ts";

/** What head and body of an answer may have together for the runtime to send them as one. Bytes; of it a head needs at most 2,000. */
const AS_ONE_BYTES = 14_000;
/** What a character takes at most, in UTF-8. */
const MOST_BYTES = 3;

/**
 * A whole body as the runtime sends it best. With a larger one it would send each name and value of the head as a packet of
 * its own (seen in Bun 1.4.5: 26 packets before a body of 16 kB); as a stream of one piece the head is one, and so is the body.
 */
export function bodyOf(
  body: string | Buffer,
  unread: UnreadAnswers,
): string | Buffer | ReadableStream<Uint8Array> {
  if (typeof body === "string" && body.length * MOST_BYTES <= AS_ONE_BYTES) return body;
  const bytes = typeof body === "string" ? Buffer.from(body, "utf8") : body;
  if (bytes.length <= AS_ONE_BYTES) return bytes;
  return new ReadableStream({
    type: "direct",
    pull(controller) {
      const writer = new AnswerWriter(controller, unread, WHOLE_ANSWER);
      writer.write(bytes);
      return writer.end();
    },
  });
}
