import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { fetchRecord } from "../../faults/two-vendors.ts";
import { dialRaw, encodeChatHead, postRawChat } from "../../support/clients/raw-client.ts";
import { waitFor } from "../../support/event-loop.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { healthy, startVendor, type Vendor } from "../../support/vendors/vendor.ts";

let vendor: Vendor;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startVendor(healthy("Alpha"));
  gateway = await startTestGateway({
    yaml: `
providers:
  vendor-a:
    base_url: "${vendor.baseUrl}"
    models: [{id: acme/model, prices: {prompt: "0.000001", completion: "0.000002"}}]`,
  });
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});
beforeEach(() => {
  vendor.perform(healthy("Alpha"));
  gateway.log.length = 0;
});

const bodyOf = (stream: boolean) =>
  JSON.stringify({ model: "acme/model", stream, messages: [{ role: "user", content: "Hello!" }] });

/** Returns a complete HTTP request for a chat completion. */
function requestOf(stream = false): string {
  const body = bodyOf(stream);
  return encodeChatHead(gateway, `content-length: ${body.length}`) + body;
}

/** Sends bytes and returns what the gateway answers before it closes the connection. */
async function answerTo(bytes: string): Promise<string> {
  const client = await dialRaw(gateway);
  client.send(bytes);
  await client.closed;
  return client.received;
}

describe("a request with an ambiguous head is rejected with 400, calls no upstream, and closes its connection:", () => {
  const body = bodyOf(false);
  const length = `content-length: ${body.length}`;
  const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

  test.each([
    ["two different host headers", ["host: other.example", length], body],
    ["the same host header twice", ["host: 127.0.0.1", length], body],
    ["both content-length and transfer-encoding", [length, "transfer-encoding: chunked"], chunked],
    ["two different content-lengths", [length, "content-length: 5"], body],
    ["a content-length that is a list", [`content-length: ${body.length}, 5`], body],
    ["a content-length with a sign", [`content-length: +${body.length}`], body],
    ["a transfer-encoding that is not chunked alone", ["transfer-encoding: gzip, chunked"], chunked],
    ["two transfer-encodings", ["transfer-encoding: chunked", "transfer-encoding: identity"], chunked],
    ["a space before a header's colon", [`content-length : ${body.length}`], body],
    ["a folded header", [length, "x-a: b\r\n c"], body],
    ["a bare line feed in its head", [`${length}\nx-a: b`], body],
    ["an invalid chunk size", ["transfer-encoding: chunked"], `zz\r\n${body}\r\n0\r\n\r\n`],
  ])("%s", async (_, framing, sent) => {
    expect(await answerTo(encodeChatHead(gateway, ...framing) + sent)).toStartWith("HTTP/1.1 400 ");
    expect(vendor.calls).toHaveLength(0);
  });

  test("a host with a path, space, user or list in it", async () => {
    for (const host of ["a/b", "a b", "user@a", "a, b"]) {
      const head = encodeChatHead(gateway, length).replace(/host: [^\r]*/, `host: ${host}`);
      expect(await answerTo(head + body)).toStartWith("HTTP/1.1 400 ");
    }
    expect(vendor.calls).toHaveLength(0);
  });
});

test("an HTTP/1.0 request without a host header is answered, even if its URL has a query", async () => {
  const answer = await answerTo("GET /v1/providers?all=true HTTP/1.0\r\n\r\n");
  expect(answer).toStartWith("HTTP/1.1 200 ");
});

describe("two requests sent together on one connection", () => {
  test.each([
    ["documents", false],
    ["streams", true],
  ])(
    "close the connection without an answer if they ask for %s, and neither is charged",
    async (_, stream) => {
      expect(await answerTo(requestOf(stream).repeat(2))).toBe("");
      const line = await waitFor(
        () => gateway.log.find(({ fields }) => fields["outcome"] !== undefined) ?? null,
      );
      const record = await fetchRecord(gateway, String(line.fields["generation_id"]));
      expect(record).toMatchObject({ outcome: "cancelled", total_cost_nanodollars: 0 });
    },
  );

  test("do not affect a later request on another connection", async () => {
    await answerTo(requestOf().repeat(2));
    const client = await postRawChat(gateway, JSON.parse(bodyOf(false)));
    const answered = await client.waitForText("Alpha one two").then(() => true);
    client.disconnect();
    expect(answered).toBe(true);
  });
});
