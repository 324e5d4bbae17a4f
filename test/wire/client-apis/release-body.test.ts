import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { BytePieces, inOnePiece } from "../../../src/base/byte-pieces.ts";
import { parseChatRequest } from "../../../src/wire/client-apis/chat-request.ts";
import { applySplices, spliceBody } from "../../../src/wire/json/splice.ts";
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
    const first = request.encode(target).body.toString();
    request.releaseReading?.();
    expect(request.encode(target).body.toString()).toBe(first);
    expect(request.listNeeds().parameters).toEqual(["seed"]);
  });

  test("cannot be encoded any more once its body was released", () => {
    const target = makeTarget("openai-chat");
    const request = parseChatRequest(BODY, same);
    request.encode(target);
    expect(request.releaseBody?.()).toBe(0);
    expect(request.listCharges().search).toBeNull();
    expect(() => request.encode(target)).toThrow("released");
  });

  test("shares the memory of a large body with what is sent", () => {
    const { body, heldBytes } = parseChatRequest(BODY, same).encode(makeTarget("openai-chat"));
    expect(body).toBeInstanceOf(BytePieces);
    expect(heldBytes).toBeLessThan(1_000);
  });
});

test("splicing a large body in pieces gives the same bytes as splicing a copy", () => {
  const splice = fc.record({ at: fc.nat(70_000), length: fc.nat(200), insert: fc.string({ maxLength: 20 }) });
  fc.assert(
    fc.property(fc.array(splice, { maxLength: 6 }), (drawn) => {
      const bytes = Buffer.alloc(70_400, "0123456789");
      let end = 0;
      const splices = drawn
        .toSorted((a, b) => a.at - b.at)
        .flatMap(({ at, length, insert }) => {
          if (at < end) return [];
          end = at + length;
          return [{ start: at, end, insert }];
        });
      expect(Buffer.from(inOnePiece(spliceBody(bytes, splices))).equals(applySplices(bytes, splices))).toBe(
        true,
      );
    }),
    { numRuns: 100 },
  );
});
