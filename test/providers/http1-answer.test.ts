import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { TransportError } from "../../src/core/deployments/transport.ts";
import { HttpAnswer } from "../../src/providers/http1/answer.ts";
import { DEFAULT_BOUNDS } from "../../src/providers/http1/bounds.ts";
import { ResponseHead } from "../../src/providers/http1/response-head.ts";

const SOURCE = { pause() {}, resume() {} };
const MOST = 1_000_000;

function answerOf(): HttpAnswer {
  const head = new ResponseHead(DEFAULT_BOUNDS);
  head.read(new Uint8Array(Buffer.from("HTTP/1.1 200 OK\r\n\r\n")), 0);
  return new HttpAnswer(head, SOURCE, DEFAULT_BOUNDS);
}

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text));

async function readAll(answer: HttpAnswer): Promise<string> {
  const pieces: Uint8Array[] = [];
  for (let piece = await answer.read(); piece !== null; piece = await answer.read()) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

describe("the body of an answer", () => {
  test("is the same, whether it is taken as one text or read in pieces", async () => {
    const margins = fc.tuple(fc.nat(50), fc.nat(50));
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "binary", maxLength: 9_000 }),
        margins,
        async (text, [before, after]) => {
          const push = (answer: HttpAnswer) => {
            const bytes = bytesOf(`${"x".repeat(before)}${text}${"x".repeat(after)}`);
            if (bytes.length > before + after) answer.push(bytes, before, bytes.length - after);
            answer.end();
            return answer;
          };
          const sent = Buffer.from(text).toString();
          expect(push(answerOf()).takeText(MOST)).toBe(sent);
          expect(await readAll(push(answerOf()))).toBe(sent);
        },
      ),
    );
  });

  test("is not taken as one text before its end, after an error, in several pieces, or above the bound", async () => {
    const running = answerOf();
    running.push(bytesOf("a"), 0, 1);
    expect(running.takeText(MOST)).toBeNull();
    running.push(bytesOf("b"), 0, 1);
    running.end();
    expect(running.takeText(MOST)).toBeNull();
    expect(await readAll(running)).toBe("ab");

    const broken = answerOf();
    broken.push(bytesOf("a"), 0, 1);
    broken.fail(new TransportError("truncated", "closed"));
    expect(broken.takeText(MOST)).toBeNull();

    const discarded = answerOf();
    discarded.end();
    discarded.discard(new TransportError("cancelled", "cancelled"));
    expect(discarded.takeText(MOST)).toBeNull();

    const large = answerOf();
    large.push(bytesOf("abc"), 0, 3);
    large.end();
    expect(large.takeText(2)).toBeNull();
    expect(large.takeText(3)).toBe("abc");
    expect(await large.read()).toBeNull();
  });

  test("is not copied in a large piece", async () => {
    const answer = answerOf();
    const bytes = new Uint8Array(10_100);
    answer.push(bytes, 100, 10_100);
    const piece = await answer.read();
    expect(piece?.length).toBe(10_000);
    expect(piece?.buffer).toBe(bytes.buffer);
  });
});
