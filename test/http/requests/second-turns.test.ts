import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { startVendor, type Vendor } from "../../support/vendors/vendor.ts";

let vendor: Vendor;
/**
 * The first gateway stores turns. The second stores none, so that only the client preserves what vendors
 * require.
 */
let withStore: TestGateway;
let withoutStore: TestGateway;

beforeAll(async () => {
  vendor = startVendor();
  const yaml = `
providers:
  google-like:
    base_url: ${vendor.baseUrl}
    format: gemini
    api_keys: [sk-google-0123456789]
    models: [{id: acme/painter, name: up-painter}]`;
  withStore = await startTestGateway({ yaml });
  withoutStore = await startTestGateway({ yaml: `limits: {turn_memory_bytes: 0}\n${yaml}` });
});
afterAll(() => Promise.all([withStore.stop(), withoutStore.stop(), vendor.stop()]));

// biome-ignore lint/suspicious/noExplicitAny: what comes from the wire is looked into as it comes
type Json = any;

/** Makes the request of a client, and returns what the client keeps of an answer. */
interface Api {
  readonly path: string;
  ask(history: readonly Json[], stream: boolean): object;
  /** Returns the messages that the answer adds to the history. */
  keepDocument(body: Json): readonly Json[];
  keepStream(events: readonly Json[]): readonly Json[];
}

const user = (content: string) => ({ role: "user", content });

const APIS: Readonly<Record<string, Api>> = {
  chat: {
    path: "/chat/completions",
    ask: (messages, stream) => ({ model: "acme/painter", stream, messages }),
    keepDocument: ({ choices }) => [choices[0].message],
    keepStream(chunks) {
      const message: Json = { role: "assistant", content: "" };
      for (const { choices } of chunks) {
        for (const { delta } of choices) {
          message.content += delta.content ?? "";
          if (delta.extra_content) message.extra_content = delta.extra_content;
          for (const list of ["images", "reasoning_details"])
            if (delta[list]) message[list] = [...(message[list] ?? []), ...delta[list]];
        }
      }
      return [message];
    },
  },
  responses: {
    path: "/responses",
    ask: (input, stream) => ({ model: "acme/painter", stream, input }),
    keepDocument: ({ output }) => output,
    keepStream: (events) => events.at(-1).response.output,
  },
  messages: {
    path: "/messages",
    ask: (messages, stream) => ({ model: "acme/painter", max_tokens: 1000, stream, messages }),
    keepDocument: ({ content }) => [{ role: "assistant", content }],
    keepStream(events) {
      const content: Json[] = [];
      for (const { type, index, content_block: block, delta } of events) {
        if (type === "content_block_start") content[index] = { ...block };
        if (type === "content_block_delta") content[index].text += delta.text ?? "";
      }
      return [{ role: "assistant", content }];
    },
  },
};

async function ask(gateway: TestGateway, api: Api, history: readonly Json[], stream: boolean) {
  const response = await fetch(gateway.base + api.path, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify(api.ask(history, stream)),
  });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, text]);
  if (!stream) return api.keepDocument(JSON.parse(text));
  const data = text.split("\n").filter((line) => line.startsWith("data: {"));
  return api.keepStream(data.map((line) => JSON.parse(line.slice("data: ".length))));
}

const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
const chunkOf = (parts: readonly object[], more: object = {}) => ({
  candidates: [{ index: 0, content: { role: "model", parts }, ...more }],
  usageMetadata,
});

/** Answers with these parts, one chunk each in a stream. */
function answerWith(parts: readonly object[]): void {
  vendor.perform(async (call) => {
    if (!/:streamGenerateContent/.test(call.head))
      return call.respond(200, chunkOf(parts, { finishReason: "STOP" }));
    await call.begin(200, { "content-type": "text/event-stream" });
    for (const part of parts) await call.events(chunkOf([part]));
    await call.events(chunkOf([], { finishReason: "STOP" }));
    await call.end();
  });
}

/** Makes two turns and returns the model's parts that the vendor receives in the second. */
async function makeTwoTurns(gateway: TestGateway, api: Api, stream: boolean): Promise<Json[]> {
  const answer = await ask(gateway, api, [user("Paint!")], stream);
  await ask(gateway, api, [user("Paint!"), ...answer, user("Bluer!")], stream);
  const { contents } = (vendor.calls.at(-1) as { body: Json }).body;
  expect(contents.map(({ role }: Json) => role)).toEqual(["user", "model", "user"]);
  return contents[1].parts;
}

const SIGNATURE = "c2lnbmF0dXJlLW9uZQ==";
const OTHER = "c2lnbmF0dXJlLXR3bw==";
const IMAGE = { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } };

describe.each(Object.keys(APIS))("a second turn of a %s client", (name) => {
  const api = APIS[name] as Api;
  describe.each([
    ["document", false],
    ["stream", true],
  ])("after an answer as a %s", (_, stream) => {
    test("returns the signature of a text to Gemini", async () => {
      const signed = { text: "A blue sea.", thoughtSignature: SIGNATURE };
      answerWith([signed]);
      expect(await makeTwoTurns(withoutStore, api, stream)).toEqual([signed]);
    });

    test("returns an image with its signature to Gemini", async () => {
      const signed = { ...IMAGE, thoughtSignature: OTHER };
      answerWith([{ text: "Here:", thoughtSignature: SIGNATURE }, signed]);
      expect(await makeTwoTurns(withoutStore, api, stream)).toEqual([
        { text: "Here:", thoughtSignature: SIGNATURE },
        signed,
      ]);
    });

    test("returns an image without a signature to Gemini", async () => {
      answerWith([IMAGE]);
      expect(await makeTwoTurns(withoutStore, api, stream)).toEqual([IMAGE]);
    });

    test("returns a signature that came after its text", async () => {
      answerWith([{ text: "A blue" }, { text: " sea." }, { text: "", thoughtSignature: SIGNATURE }]);
      expect(await makeTwoTurns(withStore, api, stream)).toEqual([
        { text: "A blue sea.", thoughtSignature: SIGNATURE },
      ]);
    });
  });
});

test("a signature that a client dropped returns to its text, also if an empty text is before it", async () => {
  const signed = { text: "A blue sea.", thoughtSignature: SIGNATURE };
  answerWith([signed]);
  const { path } = APIS["chat"] as Api;
  const send = async (...content: readonly string[]) => {
    const texts = content.map((text) => ({ type: "text", text }));
    const history = [user("Paint it blue!"), { role: "assistant", content: texts }, user("Bluer!")];
    const messages = content.length === 0 ? history.slice(0, 1) : history;
    const response = await fetch(withStore.base + path, {
      method: "POST",
      headers: { authorization: `Bearer ${withStore.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "acme/painter", messages }),
    });
    await response.text();
    const { contents } = (vendor.calls.at(-1) as { body: Json }).body;
    return contents[1]?.parts;
  };
  await send();
  expect(await send("A blue sea.")).toEqual([signed]);
  expect(await send("", "A blue sea.")).toEqual([signed]);
});

/** A text whose signature comes after it, at the end of the answer. */
const LATE = [{ text: "A blue sea." }, { text: "", thoughtSignature: SIGNATURE }];

async function streamMessage(gateway: TestGateway): Promise<Json[]> {
  const { path, ask: write } = APIS["messages"] as Api;
  const response = await fetch(gateway.base + path, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify(write([user("Paint!")], true)),
  });
  const data = (await response.text()).split("\n").filter((line) => line.startsWith("data: {"));
  return data.map((line) => JSON.parse(line.slice("data: ".length)));
}

/** Returns the warnings about the answer's content. */
function warningsOf(events: readonly Json[]): Json[] {
  const { gateway_metadata: metadata } = events.find(({ type }) => type === "message_delta");
  return (metadata?.warnings ?? []).filter(({ field }: Json) => field === "content");
}

describe("a signature after the last text of a Messages stream", () => {
  test("adds no content block, because agents would take that block for the text", async () => {
    answerWith(LATE);
    const [{ content }] = await ask(withoutStore, APIS["messages"] as Api, [user("Paint!")], true);
    expect(content).toEqual([{ type: "text", text: "A blue sea." }]);
  });

  test("is named in a warning, in the answer and in its record, where the gateway remembers no turns", async () => {
    answerWith(LATE);
    const events = await streamMessage(withoutStore);
    const warning = { field: "content", message: expect.stringContaining("signed the text") };
    expect(warningsOf(events)).toEqual([warning]);
    const id = events.find(({ type }) => type === "message_start").message.id;
    const record = await fetch(`${withoutStore.base}/generation?id=${id}`, {
      headers: { authorization: `Bearer ${withoutStore.key}` },
    });
    expect((await record.json()) as Json).toMatchObject({
      data: { warnings: expect.arrayContaining([warning]) },
    });
  });

  test("is not named where the gateway remembers the turn", async () => {
    answerWith(LATE);
    expect(warningsOf(await streamMessage(withStore))).toEqual([]);
  });
});

describe("a signature after a text that further blocks follow in a Messages stream", () => {
  const signed = { text: "First this.", thoughtSignature: SIGNATURE };
  const api = APIS["messages"] as Api;

  test("is sent between them, and returns to Gemini without a memory of turns", async () => {
    const image = { ...IMAGE, thoughtSignature: OTHER };
    answerWith([{ text: "First this." }, { text: "", thoughtSignature: SIGNATURE }, image]);
    expect(await makeTwoTurns(withoutStore, api, true)).toEqual([signed, image]);
  });

  test("returns to its own text if a further text follows", async () => {
    answerWith([{ text: "First this." }, { text: "", thoughtSignature: SIGNATURE }, { text: "Then that." }]);
    expect(await makeTwoTurns(withoutStore, api, true)).toEqual([signed, { text: "Then that." }]);
  });

  test("is not named in a warning", async () => {
    answerWith([{ text: "First this." }, { text: "", thoughtSignature: SIGNATURE }, { text: "Then that." }]);
    expect(warningsOf(await streamMessage(withoutStore))).toEqual([]);
  });
});
