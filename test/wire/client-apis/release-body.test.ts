import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { applySplices, spliceBody } from "../../../src/base/json/splice.ts";
import { ComposedBytes, copyBytes, joinIntoOne, piecesOf } from "../../../src/base/text/composed-bytes.ts";
import { parseChatRequest } from "../../../src/wire/client-apis/chat-request.ts";
import { makeIdentity, STREAM_HEAD } from "../../fidelity/answers/run-answers.ts";
import { makeTarget } from "../../fidelity/targets.ts";

const BODY = Buffer.from(
  JSON.stringify({
    model: "acme/model",
    seed: 1,
    messages: [{ role: "user", content: "word ".repeat(20_000) }],
  }),
);
const same = (id: string) => id;

describe("a parsed request", () => {
  test("whose reading was released is encoded as before, because it is read again", () => {
    const target = makeTarget("openai-chat");
    const request = parseChatRequest(BODY, same);
    const first = request.encoding.encode(target).body.toString();
    request.memory.releaseReading?.();
    expect(request.encoding.encode(target).body.toString()).toBe(first);
    expect(request.demands.listNeeds().parameters).toEqual(["seed"]);
  });

  test("cannot be encoded any more once the relay of its answer has released its body", () => {
    const target = makeTarget("openai-chat");
    const request = parseChatRequest(BODY, same);
    const { releaseBody } = request.encoding.encode(target).answers.openRelay(makeIdentity(), STREAM_HEAD);
    expect(releaseBody?.()).toBe(0);
    expect(request.demands.listCharges().search).toBeNull();
    expect(() => request.encoding.encode(target)).toThrow("released");
  });

  test("shares the memory of a large body with what is sent", () => {
    const { body, heldBytes } = parseChatRequest(BODY, same).encoding.encode(makeTarget("openai-chat"));
    expect(body).toBeInstanceOf(ComposedBytes);
    expect(heldBytes).toBeLessThan(1_000);
  });

  test("shares the memory of long texts with what is sent in another format", () => {
    const { body, heldBytes } = parseChatRequest(BODY, same).encoding.encode(
      makeTarget("anthropic-messages"),
    );
    expect(body).toBeInstanceOf(ComposedBytes);
    expect(body.length).toBeGreaterThan(100_000);
    // The text that the request was read from is counted; what is sent is not a second copy.
    expect(heldBytes).toBeLessThan(1.1 * BODY.length);
  });
});

test("spliced bytes are the same whether they are copied, joined or listed in pieces", () => {
  const splice = fc.record({
    at: fc.nat(300),
    length: fc.nat(40),
    insert: fc.string({ unit: "binary", maxLength: 20 }),
  });
  fc.assert(
    fc.property(fc.array(splice, { maxLength: 6 }), fc.nat(9), (drawn, at) => {
      const bytes = Buffer.alloc(340, "0123456789");
      const kept: Buffer[] = [];
      let end = 0;
      const splices = drawn
        .toSorted((a, b) => a.at - b.at)
        .flatMap(({ at: start, length, insert }) => {
          if (start < end) return [];
          kept.push(bytes.subarray(end, start), Buffer.from(insert));
          end = start + length;
          return [{ start, end, insert }];
        });
      const expected = Buffer.concat([...kept, bytes.subarray(end)]);
      const spliced = spliceBody(bytes, splices.toReversed());
      expect(spliced.length).toBe(expected.length);
      expect(Buffer.from(joinIntoOne(spliced)).equals(expected)).toBe(true);
      expect(Buffer.concat(piecesOf(spliced)).equals(expected)).toBe(true);
      expect(applySplices(bytes, splices).equals(expected)).toBe(true);
      const target = Buffer.alloc(expected.length + at + 1);
      expect(copyBytes(spliced, target, at)).toBe(at + expected.length);
      expect(target.subarray(at, -1).equals(expected)).toBe(true);
      expect(target.at(-1)).toBe(0);
    }),
  );
});
