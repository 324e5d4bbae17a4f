import { expect, test } from "bun:test";
import fc from "fast-check";
import type { UpstreamRequest } from "../../src/core/deployments/transport.ts";
import { serializeRequestHead } from "../../src/providers/http1/request-head.ts";
import { createTargetReader } from "../../src/providers/http1/target.ts";

const HEADERS: readonly UpstreamRequest["headers"][] = [
  { "content-type": "application/json", authorization: "Bearer a" },
  { "content-type": "application/json", authorization: "Bearer b" },
  { accept: "text/event-stream", "accept-encoding": "gzip", host: "ignored" },
  {},
];
const URLS = ["http://one.test/v1", "https://one.test/v1", "http://two.test:81/v1?a=b"].map(
  (url) => new URL(url),
);

test("the head of a request whose headers are shared is that of the same headers by themselves", () => {
  const request = fc.record({
    url: fc.constantFrom(...URLS),
    headers: fc.constantFrom(...HEADERS),
    method: fc.constantFrom("POST" as const, "GET" as const),
    body: fc.option(fc.nat(2000).map((size) => Buffer.alloc(size))),
  });
  fc.assert(
    fc.property(fc.array(request, { minLength: 2, maxLength: 12 }), (requests) => {
      const readTarget = createTargetReader();
      for (const one of requests) {
        const made: UpstreamRequest = { ...one, connectTimeoutMs: 1 };
        const alone = serializeRequestHead({ ...made, headers: { ...made.headers } }, readTarget(one.url));
        expect(serializeRequestHead({ ...made, areShared: true }, readTarget(one.url))).toBe(alone);
      }
    }),
  );
});
