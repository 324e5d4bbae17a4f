import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ProviderKey } from "../../src/core/deployments/served-models.ts";
import { headersBefore, headersWith } from "../../src/core/generation/upstream-headers.ts";
import type { ProviderFormat } from "../../src/wire/conversation/format-name.ts";

function keyOf(label: string, headers: Readonly<Record<string, string>>): ProviderKey {
  const address: ProviderKey["address"] = {
    urlFor: () => new URL("http://one.test"),
    headersFor: (format) => (format === "anthropic-messages" ? { "anthropic-version": "1" } : {}),
    authorize: () => ({}),
  };
  return { label, secret: "secret", byokId: null, address, headers };
}

const KEYS = [keyOf("one", {}), keyOf("two", { "x-team": "a", accept: "text/plain" })];
const FORMATS: readonly ProviderFormat[] = ["openai-chat", "anthropic-messages", "bedrock-converse"];
const CREDENTIALS = [{ authorization: "Bearer a" }, { authorization: "Bearer b" }, { "x-api-key": "c" }];
const ADDED = [undefined, { traceparent: "00-1" }, { accept: "own", "x-team": "added" }];
const ACCEPTED: Readonly<Partial<Record<ProviderFormat, string>>> = {
  "bedrock-converse": "application/vnd.amazon.eventstream",
};

const question = fc.record({
  key: fc.constantFrom(...KEYS),
  format: fc.constantFrom(...FORMATS),
  stream: fc.boolean(),
  added: fc.constantFrom(...ADDED),
});

/** The headers of one request, made anew. */
function reference({ key, format, stream, added }: Parameters<typeof headersBefore>[0]) {
  return {
    "content-type": "application/json",
    accept: stream ? (ACCEPTED[format] ?? "text/event-stream") : "application/json",
    ...added,
    ...key.address.headersFor(format),
    ...key.headers,
  };
}

describe("the headers of a request to an upstream", () => {
  test("are those of the request itself, whichever requests came before", () => {
    const requests = fc.array(fc.tuple(question, fc.constantFrom(...CREDENTIALS)), { maxLength: 20 });
    fc.assert(
      fc.property(requests, (sequence) => {
        for (const [one, credentials] of sequence) {
          expect(headersBefore(one)).toEqual(reference(one));
          expect(headersWith(one, credentials).headers).toEqual({ ...reference(one), ...credentials });
        }
      }),
    );
  });

  test("are one object for requests that add none and have the same credentials", () => {
    const one = { key: KEYS[0] as ProviderKey, format: "openai-chat", stream: false } as const;
    const [credentials, others] = CREDENTIALS as [object, object, object];
    const first = headersWith(one, credentials as Record<string, string>);
    expect(headersWith(one, credentials as Record<string, string>).headers).toBe(first.headers);
    expect(headersWith(one, others as Record<string, string>).headers).not.toBe(first.headers);
    expect(headersWith({ ...one, added: { a: "b" } }, credentials as Record<string, string>).areShared).toBe(
      false,
    );
  });
});
