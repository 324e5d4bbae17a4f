import { describe, expect, test } from "bun:test";
import { TransportError, type UpstreamResponse } from "../../src/core/deployments/transport.ts";
import { readBody } from "../../src/core/generation/attempt/read-body.ts";

/** Returns a response whose body comes in these pieces, and which of them were not read. */
function respond(...texts: readonly string[]) {
  const left = texts.map((text) => Buffer.from(text));
  const response: UpstreamResponse = {
    status: 200,
    header: () => null,
    read: async () => left.shift() ?? null,
  };
  return { response, left };
}

describe("the body of an answer", () => {
  test.each(["reject", "truncate"] as const)(
    "is read to its end if it has exactly as many bytes as it may, with %s",
    async (onTooLarge) => {
      const { response } = respond("abc", "def");
      expect(Buffer.from(await readBody(response, 6, onTooLarge)).toString()).toBe("abcdef");
    },
  );

  test("is rejected at the first byte beyond, and not read on", async () => {
    const { response, left } = respond("abc", "defg", "h");
    await expect(readBody(response, 6, "reject")).rejects.toBeInstanceOf(TransportError);
    expect(left).toHaveLength(1);
  });

  test("is cut off at the first byte beyond, and not read on", async () => {
    const { response, left } = respond("abc", "defg", "h");
    expect(Buffer.from(await readBody(response, 6, "truncate")).toString()).toBe("abcdef");
    expect(left).toHaveLength(1);
  });
});
