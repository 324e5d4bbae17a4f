import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  brotliCompressSync,
  createGzip,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import type { FormatName } from "../../../src/wire/conversation/traits/format-name.ts";
import { FORMAT_NAMES } from "../../../src/wire/conversation/traits/format-name.ts";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  type RecordedRequest,
  type RecordingVendor,
  startRecordingVendor,
} from "../../support/vendors/recording-vendor.ts";
import { SCRIPTS } from "../../support/vendors/scripts/all-scripts.ts";

const CODINGS: Readonly<Record<string, (text: Uint8Array) => Uint8Array<ArrayBuffer>>> = {
  gzip: (text) => gzipSync(text),
  deflate: (text) => deflateSync(text),
  "deflate without its header": (text) => deflateRawSync(text),
  br: (text) => brotliCompressSync(text),
  zstd: (text) => zstdCompressSync(text),
};
const TEXT = "Packed one two";

let vendor: RecordingVendor;
/** Answers the same model when `vendor` fails. */
let spare: RecordingVendor;
let gateway: TestGateway;

beforeAll(async () => {
  [vendor, spare] = [startRecordingVendor(), startRecordingVendor()];
  const hosts = FORMAT_NAMES.map(
    (format) =>
      `  ${format}: {base_url: "${vendor.baseUrl}", format: ${format}, api_keys: ["AKIA0123456789ABCDEF:secret-0123456789"], parts: {region: eu-west-1}, models: [{id: acme/${format}}]}`,
  );
  gateway = await startTestGateway({
    yaml: `
providers:
${hosts.join("\n")}
  first: {base_url: "${vendor.baseUrl}", api_keys: [sk-first-0123456789], models: [{id: acme/twice}, {id: acme/embed, output: embedding}]}
  second: {base_url: "${spare.baseUrl}", api_keys: [sk-second-0123456789], models: [{id: acme/twice, prices: {prompt: "1", completion: "1"}}]}
  mistral: {base_url: "${vendor.baseUrl}", api_keys: [sk-mistral-0123456789], models: [{id: mistralai/code}]}
`,
  });
});
beforeEach(() => {
  vendor.reset();
  spare.reset();
});
afterAll(() => Promise.all([gateway.stop(), vendor.stop(), spare.stop()]));

/** Returns a vendor's response, compressed although `accept-encoding` does not allow it. */
function packed(
  coding: string,
  body: string | Uint8Array,
  type = "application/json",
  status = 200,
): Response {
  const pack = CODINGS[coding] ?? ((text: Uint8Array) => Uint8Array.from(text));
  const headers = { "content-type": type, "content-encoding": coding.split(" ")[0] as string };
  return new Response(pack(Buffer.from(body)), { status, headers });
}

/** Returns a vendor of a format that says `TEXT` in a content coding, as a document or stream as requested. */
function speak(format: FormatName, coding: string) {
  const script = SCRIPTS[format];
  return ({ path, text }: RecordedRequest): Response => {
    if (!script.isStream(path, JSON.parse(text)))
      return packed(coding, JSON.stringify(script.document(TEXT, "stop")));
    const stream = Buffer.concat([script.begin("Packed one"), script.more(" two"), script.close("stop")]);
    return packed(coding, stream, script.contentType);
  };
}

function ask(path: string, body: object): Promise<Response> {
  return fetch(`${gateway.url}/v1${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

const messages = [{ role: "user", content: "Hi" }];
/** The client APIs: one that is translated to most formats, and two that pass through to their own. */
const ASKS: readonly (readonly [string, (model: string, stream: boolean) => Promise<Response>])[] = [
  ["chat", (model, stream) => ask("/chat/completions", { model, messages, stream })],
  ["responses", (model, stream) => ask("/responses", { model, input: "Hi", stream })],
  ["messages", (model, stream) => ask("/messages", { model, messages, stream, max_tokens: 99 })],
];

describe("an upstream that compresses responses without being asked to", () => {
  test.each(FORMAT_NAMES.flatMap((format) => ASKS.map(([api, send]) => [api, format, send] as const)))(
    "is read by %s requests in its format %s, as documents and streams, in every content coding",
    async (_api, format, send) => {
      for (const coding of Object.keys(CODINGS)) {
        for (const stream of [false, true]) {
          vendor.reset(speak(format, coding));
          const response = await send(`acme/${format}`, stream);
          const text = await response.text();
          expect([coding, stream, response.status]).toEqual([coding, stream, 200]);
          expect(readText(text)).toContain(TEXT);
        }
      }
    },
  );

  test.each(Object.keys(CODINGS))(
    "is read with the coding %s for embeddings, fill in the middle and token counts",
    async (coding) => {
      const vector = { object: "embedding", index: 0, embedding: [0.5, 0.25] };
      vendor.reset(() =>
        packed(coding, JSON.stringify({ data: [vector], usage: { prompt_tokens: 1, total_tokens: 1 } })),
      );
      const embedded = await ask("/embeddings", { model: "acme/embed", input: "Hi" });
      expect(await embedded.json()).toMatchObject({ data: [{ embedding: [0.5, 0.25] }] });

      for (const stream of [false, true]) {
        vendor.reset(speak("openai-chat", coding));
        const filled = await ask("/fim/completions", { model: "mistralai/code", prompt: "def f(", stream });
        expect(readText(await filled.text())).toContain(TEXT);
      }

      vendor.reset(() => packed(coding, JSON.stringify({ input_tokens: 321 })));
      const counted = await ask("/messages/count_tokens", { model: "acme/anthropic-messages", messages });
      expect(await counted.json()).toMatchObject({ input_tokens: 321 });
    },
  );

  test("can send a compressed error, whose message reaches the client", async () => {
    const error = {
      error: { message: "top_k: Input should be greater than 0", type: "invalid_request_error" },
    };
    vendor.reset(() => packed("gzip", JSON.stringify(error), "application/json", 400));
    const response = await ask("/chat/completions", { model: "acme/openai-chat", messages });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("Input should be greater than 0");
  });

  test("can send a compressed stream, whose events are forwarded before its end", async () => {
    const { begin, more, close } = SCRIPTS["openai-chat"];
    const goOn = Promise.withResolvers<void>();
    vendor.reset(() => {
      const encoder = createGzip();
      const write = async (part: Uint8Array, controller: ReadableStreamDefaultController<Uint8Array>) => {
        encoder.write(part);
        await new Promise<void>((resolve) => encoder.flush(() => resolve()));
        for (let piece = encoder.read(); piece !== null; piece = encoder.read()) controller.enqueue(piece);
      };
      const body = new ReadableStream<Uint8Array>({
        async start(controller) {
          await write(begin("Packed one"), controller);
          await goOn.promise;
          await write(Buffer.concat([more(" two"), close("stop")]), controller);
          encoder.on("data", (piece: Buffer) => controller.enqueue(piece));
          encoder.on("end", () => controller.close());
          encoder.end();
        },
      });
      return new Response(body, {
        headers: { "content-type": "text/event-stream", "content-encoding": "gzip" },
      });
    });
    const response = await postChat(gateway, { model: "acme/openai-chat", messages, stream: true });
    const reader = response.body!.getReader();
    let text = "";
    while (!text.includes("Packed one")) text += Buffer.from((await reader.read()).value!).toString();
    expect(text).not.toContain(" two");
    goOn.resolve();
    for (let read = await reader.read(); !read.done; read = await reader.read())
      text += Buffer.from(read.value).toString();
    expect(readText(text)).toContain(TEXT);
  });

  test.each([false, true])(
    "fails with an error that names the unknown coding, and the next candidate answers (stream: %p)",
    async (stream) => {
      vendor.reset(() => packed("snappy", "whatever"));
      const alone = await ask("/chat/completions", { model: "acme/openai-chat", messages, stream });
      expect(alone.status).toBe(502);
      expect(await alone.json()).toMatchObject({
        error: { type: "upstream_error", message: expect.stringContaining('content-encoding "snappy"') },
      });
      const other = await ask("/chat/completions", { model: "acme/twice", messages, stream });
      expect([other.status, readText(await other.text())]).toEqual([
        200,
        expect.stringContaining("Hello there."),
      ]);
      expect(vendor.requests.length).toBeGreaterThan(1);
      expect(spare.requests.length).toBe(1);
    },
  );

  test.each<[string, boolean, string]>([
    ["the start of a stream", false, "too large"],
    ["the beginning of a stream", true, "answered with nothing"],
  ])(
    "fails without being read further if %s exceeds its maximum once decompressed",
    async (_, stream, words) => {
      const bomb = gzipSync(Buffer.alloc(80 * 1024 * 1024, " "));
      vendor.reset(() => new Response(bomb, { headers: { "content-encoding": "gzip" } }));
      const response = await ask("/chat/completions", { model: "acme/openai-chat", messages, stream });
      expect(response.status).toBe(502);
      expect(await response.text()).toContain(words);
    },
  );
});

/** Returns all text of a response of any client API, document or stream. */
function readText(answer: string): string {
  const documents = answer.startsWith("{")
    ? [JSON.parse(answer)]
    : [...answer.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data as string));
  return documents.map((document) => collectText(document)).join("");
}

function collectText(value: unknown, field = ""): string {
  if (typeof value === "string") return TEXT_FIELDS.has(field) ? value : "";
  if (typeof value !== "object" || value === null) return "";
  return Object.entries(value)
    .map(([name, member]) => collectText(member, Array.isArray(value) ? field : name))
    .join("");
}

const TEXT_FIELDS = new Set(["content", "text", "delta"]);
