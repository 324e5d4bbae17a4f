import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { makeWav } from "../../support/clients/wav.ts";
import { eventually } from "../../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { addAccountWithKey, balanceOf, findLedgerProblems } from "../../support/money.ts";
import {
  type RecordingVendor,
  type Responder,
  startRecordingVendor,
} from "../../support/vendors/recording-vendor.ts";
import { startVendor, type Vendor } from "../../support/vendors/vendor.ts";

let first: RecordingVendor;
let second: RecordingVendor;
/** A vendor whose connections the tests break. */
let broken: Vendor;
let gateway: TestGateway;

beforeAll(async () => {
  first = startRecordingVendor();
  second = startRecordingVendor();
  broken = startVendor();
  gateway = await startTestGateway({
    yaml: `
providers:
  alpha:
    base_url: ${first.baseUrl}
    api_keys: [sk-alpha-0123456789]
    models:
      - {id: acme/draw, name: up-draw, output: image, prices: {prompt: "0.000005", completion: "0.00003"}}
      - id: acme/picture
        name: up-picture
        output: image
        prices:
          prompt: "0"
          completion: "0"
          image_variants:
            - {quality: standard, size: 1024x1024, price: "0.04"}
            - {quality: standard, price: "0.08"}
            - {quality: hd, size: 1024x1024, price: "0.08"}
            - {quality: hd, price: "0.12"}
      - {id: acme/speak, name: up-speak, output: speech, prices: {prompt: "0", completion: "0", character: "0.000015"}}
      - {id: acme/voice, name: up-voice, output: speech, prices: {prompt: "0.0000006", completion: "0.000012"}}
      - {id: acme/hear, name: up-hear, output: transcription, prices: {prompt: "0", completion: "0", audio_second: "0.0001"}}
      - {id: acme/listen, name: up-listen, output: transcription, prices: {prompt: "0.0000025", completion: "0.00001"}}
  gamma:
    base_url: ${broken.baseUrl}
    models:
      - {id: acme/sketch, output: image, prices: {prompt: "0", completion: "0", generated_image: "0.04"}}
      - {id: acme/broken, output: speech, prices: {prompt: "0", completion: "0", character: "0.000015"}}
  beta:
    base_url: ${second.baseUrl}
    api_keys: [sk-beta-0123456789]
    models:
      - {id: acme/speak, name: up-beta, output: speech, prices: {prompt: "0", completion: "0", character: "0.00003"}}
      - {id: acme/hear, name: up-beta, output: transcription, prices: {prompt: "0", completion: "0", audio_second: "0.0002"}}
`,
  });
});
beforeEach(() => {
  first.reset();
  second.reset();
});
afterAll(async () => {
  await Promise.all([gateway.stop(), first.stop(), second.stop()]);
  broken.stop();
});

const authorization = (key: string) => ({ authorization: `Bearer ${key}` });

function post(path: string, body: unknown, key = gateway.key): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...authorization(key) },
    body: JSON.stringify(body),
  });
}

function postForm(fields: Readonly<Record<string, string | File>>, key = gateway.key): Promise<Response> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return fetch(`${gateway.url}/v1/audio/transcriptions`, {
    method: "POST",
    headers: authorization(key),
    body: form,
  });
}

async function messageOf(response: Response): Promise<string> {
  return ((await response.json()) as { readonly error: { readonly message: string } }).error.message;
}

/** Returns the generation record of a response, as its caller sees it. */
async function generationOf(response: Response): Promise<Record<string, unknown>> {
  const id = response.headers.get("x-gateway-generation-id");
  const found = await fetch(`${gateway.base}/generation?id=${id}`, { headers: authorization(gateway.key) });
  return ((await found.json()) as { data: Record<string, unknown> }).data;
}

/** Returns the record of a generation once it has ended. */
function settledOf(response: Response): Promise<Record<string, unknown>> {
  return eventually("the end of the generation", async () => {
    const found = await generationOf(response);
    return found["outcome"] === "open" ? null : found;
  });
}

/** Returns the data of the events of an answer. */
async function eventsOf(response: Response): Promise<Record<string, unknown>[]> {
  const blocks = (await response.text()).split("\n\n").filter((block) => block.includes("data: "));
  return blocks.map((block) => JSON.parse(block.slice(block.indexOf("data: ") + 6)));
}

/** Answers with a stream of events, as vendors write them. */
function streamOf(events: readonly object[]): Responder {
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return () => new Response(text, { headers: { "content-type": "text/event-stream" } });
}

const IMAGE_USAGE = {
  total_tokens: 1_066,
  input_tokens: 10,
  output_tokens: 1_056,
  input_tokens_details: { text_tokens: 10, image_tokens: 0 },
};

describe("POST images/generations", () => {
  test("charges the tokens that the vendor counts, and forwards the images", async () => {
    const answer = { created: 7, data: [{ b64_json: "aGk=" }], size: "1024x1024", usage: IMAGE_USAGE };
    first.reset(() => Response.json(answer));
    const response = await post("/v1/images/generations", { model: "acme/draw", prompt: "A boat.", n: 1 });
    expect(response.status).toBe(200);
    // 10 * $0.000005 + 1056 * $0.00003
    const cost = 0.03173;
    expect(await response.json()).toEqual({
      ...answer,
      usage: {
        ...IMAGE_USAGE,
        cost,
        cost_details: {
          upstream_inference_cost: cost,
          upstream_inference_prompt_cost: 0.00005,
          upstream_inference_completions_cost: 0.03168,
        },
        is_byok: false,
      },
    });
    expect(first.last().path).toBe("/v1/images/generations");
    expect(JSON.parse(first.last().text)).toEqual({ model: "up-draw", prompt: "A boat.", n: 1 });
    expect(await generationOf(response)).toMatchObject({
      api: "images",
      tokens_prompt: 10,
      tokens_image_completion: 1_056,
      units: { generated_images: 1, image_size: "1024x1024" },
      total_cost: cost,
    });
  });

  test.each([
    [{}, 0.04],
    [{ n: 2, size: "1792x1024" }, 0.16],
    [{ quality: "hd", size: "1024x1024" }, 0.08],
    [{ quality: "hd", size: "1024x1792" }, 0.12],
    [{ quality: "auto", size: "auto" }, 0.04],
  ])(
    "an image of %p is charged by its quality and size",
    async (fields: { readonly n?: number; readonly size?: string }, cost) => {
      const data = Array.from({ length: fields.n ?? 1 }, () => ({ url: "https://images.example/1.png" }));
      first.reset(() => Response.json({ created: 7, data }));
      const response = await post("/v1/images/generations", {
        model: "acme/picture",
        prompt: "A",
        ...fields,
      });
      expect(((await response.json()) as { usage: { cost: number } }).usage.cost).toBe(cost);
    },
  );

  test("a stream is forwarded event by event, and its last event has the cost", async () => {
    const partial = { type: "image_generation.partial_image", b64_json: "aGk=", partial_image_index: 0 };
    const last = { type: "image_generation.completed", b64_json: "aGk=", usage: IMAGE_USAGE };
    first.reset(streamOf([partial, last]));
    const response = await post("/v1/images/generations", { model: "acme/draw", prompt: "A", stream: true });
    expect(response.headers.get("content-type")).toStartWith("text/event-stream");
    expect(first.last().headers.get("accept")).toBe("text/event-stream");
    const events = await eventsOf(response);
    expect(events).toHaveLength(2);
    expect(events[0]).toEqual(partial);
    expect(events[1]).toMatchObject({ ...last, usage: { ...IMAGE_USAGE, cost: 0.03173 } });
    expect(await generationOf(response)).toMatchObject({ outcome: "completed", total_cost: 0.03173 });
  });

  test("a stream of two images has both in the vendor's order, charges both, and its last event has the cost", async () => {
    const events = ["Zmlyc3Q=", "c2Vjb25k"].flatMap((b64_json) => [
      { type: "image_generation.partial_image", b64_json, partial_image_index: 0 },
      { type: "image_generation.completed", b64_json, usage: IMAGE_USAGE },
    ]);
    first.reset(streamOf(events));
    const body = { model: "acme/draw", prompt: "A", n: 2, stream: true };
    const response = await post("/v1/images/generations", body);
    const received = await eventsOf(response);
    expect(received.slice(0, 3)).toEqual(events.slice(0, 3));
    expect(received[3]).toMatchObject({ ...events[3], usage: { ...IMAGE_USAGE, cost: 2 * 0.03173 } });
    expect(received).toHaveLength(4);
    expect(await generationOf(response)).toMatchObject({
      outcome: "completed",
      tokens_prompt: 2 * 10,
      tokens_image_completion: 2 * 1_056,
      units: { generated_images: 2 },
      total_cost: 2 * 0.03173,
    });
  });

  test.each([
    ["both arrive", 2, [], "completed"],
    ["the second one is left out", 1, [], "completed"],
    [
      "the second one breaks off",
      1,
      [{ type: "image_generation.partial_image", b64_json: "aGk=" }],
      "failed",
    ],
  ] as const)(
    "a stream of two images is charged the price of an image for each that arrived: %s",
    async (_how, arrived, rest, outcome) => {
      const image = { type: "image_generation.completed", b64_json: "aGk=" };
      first.reset(streamOf([...Array(arrived).fill(image), ...rest]));
      const body = { model: "acme/picture", prompt: "A", n: 2, stream: true };
      const response = await post("/v1/images/generations", body);
      const received = await eventsOf(response);
      expect(received.filter(({ type }) => type === image.type)).toHaveLength(arrived);
      expect(received.filter(({ type }) => type === "error")).toHaveLength(outcome === "failed" ? 1 : 0);
      expect(await settledOf(response)).toMatchObject({
        outcome,
        units: { generated_images: arrived },
        total_cost: arrived * 0.04,
      });
    },
  );

  test("a stream that ends without its last event ends with an error event", async () => {
    first.reset(streamOf([{ type: "image_generation.partial_image", b64_json: "aGk=" }]));
    const response = await post("/v1/images/generations", { model: "acme/draw", prompt: "A", stream: true });
    expect((await eventsOf(response)).at(-1)).toMatchObject({
      type: "error",
      error: { type: "upstream_error" },
    });
    expect(await generationOf(response)).toMatchObject({ outcome: "failed" });
  });

  test("a stream that failed after its first image was charged is given again as it was with its Idempotency-Key, and is not charged again", async () => {
    const secret = await addAccountWithKey(gateway, { id: "user_images", overdraft: 1_000_000_000 });
    const image = { type: "image_generation.completed", b64_json: "aGk=" };
    const partial = { type: "image_generation.partial_image", b64_json: "aGk=" };
    broken.perform(async (call) => {
      await call.begin();
      await call.events(image, partial);
      await call.gate();
      await call.events({ type: "error", error: { message: "overloaded" } });
      await call.end();
    });
    const ask = () =>
      fetch(`${gateway.url}/v1/images/generations`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...authorization(secret),
          "idempotency-key": "images",
        },
        body: JSON.stringify({ model: "acme/sketch", prompt: "A", n: 2, stream: true }),
      });
    const asked = await ask();
    (await broken.call(0)).openGate();
    const events = await eventsOf(asked);
    expect(events.map(({ type }) => type)).toEqual([image.type, partial.type, "error"]);
    const again = await ask();
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await eventsOf(again)).toEqual(events);
    expect(broken.calls).toHaveLength(1);
    expect((await balanceOf(gateway, "user_images")).balance).toBe(-40_000_000);
  });

  test.each([
    [{ model: "acme/draw" }, "prompt is required: a description of the image."],
    [{ model: "acme/draw", prompt: "A", n: 0 }, "n must be a whole number of at least 1."],
    [
      { model: "acme/draw", prompt: "A", n: 129 },
      "n has 129 images; at most 128 are accepted. Send several requests.",
    ],
    [{ model: "acme/draw", prompt: "A", size: 7 }, "size must be a string."],
  ])("rejects %p", async (body, message) => {
    const response = await post("/v1/images/generations", body);
    expect(response.status).toBe(400);
    expect(await messageOf(response)).toBe(message);
    expect(first.requests).toHaveLength(0);
  });
});

const SPEAK = { model: "acme/speak", input: "Hällo, world", voice: "alloy" };
const AUDIO = Buffer.from([0xff, 0xf3, 0x44, 0xc4, 0x00, 0x0a, 0x80, 0x90, 0xe2, 0x82]);

describe("POST audio/speech", () => {
  test("forwards the audio byte for byte, and charges the characters of the text", async () => {
    first.reset(() => new Response(AUDIO, { headers: { "content-type": "audio/mpeg" } }));
    const response = await post("/v1/audio/speech", SPEAK);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("audio/mpeg");
    expect(Buffer.from(await response.arrayBuffer())).toEqual(AUDIO);
    expect(first.last().path).toBe("/v1/audio/speech");
    expect(first.last().headers.get("accept")).toContain("audio/*");
    expect(await generationOf(response)).toMatchObject({
      api: "speech",
      outcome: "completed",
      units: { characters: 12 },
      total_cost: 0.00018,
      pricing: [
        expect.objectContaining({ kind: "prompt" }),
        expect.objectContaining({ kind: "audio_completion" }),
        { kind: "character", count: 12, price: "0.000015", cost_nanodollars: "180000" },
      ],
    });
  });

  test("audio tokens of a model that has a price for them are estimated by the duration of the audio", async () => {
    first.reset(() => new Response(makeWav(6), { headers: { "content-type": "audio/wav" } }));
    const response = await post("/v1/audio/speech", { ...SPEAK, model: "acme/voice" });
    await response.arrayBuffer();
    // Six seconds at 1,250 tokens in a minute.
    expect(await generationOf(response)).toMatchObject({
      tokens_audio_completion: 125,
      estimated: true,
      total_cost: (125 * 12 + 4 * 0.6) / 1_000_000,
    });
  });

  test("a stream of events has the vendor's usage with the cost", async () => {
    const usage = { input_tokens: 5, output_tokens: 100, total_tokens: 105 };
    first.reset(
      streamOf([
        { type: "speech.audio.delta", audio: "aGk=" },
        { type: "speech.audio.done", usage },
      ]),
    );
    const response = await post("/v1/audio/speech", { ...SPEAK, model: "acme/voice", stream_format: "sse" });
    const events = await eventsOf(response);
    expect(events.at(-1)).toMatchObject({ type: "speech.audio.done", usage: { ...usage, cost: 0.001203 } });
  });

  test("JSON in place of audio is an error of the vendor, and the next one is asked", async () => {
    first.reset(() => Response.json({ error: { message: "no voice" } }));
    second.reset(() => new Response(AUDIO, { headers: { "content-type": "audio/mpeg" } }));
    const response = await post("/v1/audio/speech", SPEAK);
    expect(response.headers.get("x-gateway-provider")).toBe("beta");
    expect(Buffer.from(await response.arrayBuffer())).toEqual(AUDIO);
  });

  test("audio that breaks off ends the client's connection, so that it does not look complete", async () => {
    broken.perform(async (call) => {
      await call.begin(200, { "content-type": "audio/mpeg" });
      await call.piece(AUDIO);
      await call.gate();
      call.connection.reset();
    });
    const response = await post("/v1/audio/speech", { ...SPEAK, model: "acme/broken" });
    expect(response.status).toBe(200);
    (await broken.call(0)).openGate();
    await expect(response.arrayBuffer()).rejects.toThrow();
    // The vendor charges for the whole text.
    expect(await settledOf(response)).toMatchObject({ outcome: "failed", total_cost: 0.00018 });
  });

  test("audio that broke off and was charged is rejected if its Idempotency-Key is repeated, and is not charged again", async () => {
    const secret = await addAccountWithKey(gateway, { id: "user_broken", overdraft: 1_000_000_000 });
    broken.perform(async (call) => {
      await call.begin(200, { "content-type": "audio/mpeg" });
      await call.piece(AUDIO);
      await call.gate();
      call.connection.reset();
    });
    const ask = () =>
      fetch(`${gateway.url}/v1/audio/speech`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...authorization(secret),
          "idempotency-key": "broken",
        },
        body: JSON.stringify({ ...SPEAK, model: "acme/broken" }),
      });
    const asked = await ask();
    (await broken.call(0)).openGate();
    await expect(asked.arrayBuffer()).rejects.toThrow();
    const id = asked.headers.get("x-gateway-generation-id")!;
    const again = await ask();
    expect([again.status, await messageOf(again)]).toEqual([409, expect.stringContaining(id)]);
    expect(broken.calls).toHaveLength(1);
    // 12 characters.
    expect((await balanceOf(gateway, "user_broken")).balance).toBe(-180_000);
  });

  test("a client that leaves ends the call of the vendor, and pays for the text", async () => {
    broken.perform(async (call) => {
      await call.begin(200, { "content-type": "audio/mpeg" });
      await call.piece(AUDIO);
      await call.connection.closed;
    });
    const leaving = new AbortController();
    const response = await fetch(`${gateway.url}/v1/audio/speech`, {
      method: "POST",
      headers: { "content-type": "application/json", ...authorization(gateway.key) },
      body: JSON.stringify({ ...SPEAK, model: "acme/broken" }),
      signal: leaving.signal,
    });
    leaving.abort();
    await (await broken.call(0)).connection.closed;
    expect(await settledOf(response)).toMatchObject({ outcome: "cancelled", total_cost: 0.00018 });
  });

  test.each([
    [{ model: "acme/speak" }, "input is required: the text to speak."],
    [{ ...SPEAK, stream_format: "wav" }, 'stream_format must be "audio" or "sse".'],
  ])("rejects %p", async (body, message) => {
    const response = await post("/v1/audio/speech", body);
    expect(response.status).toBe(400);
    expect(await messageOf(response)).toBe(message);
  });
});

const SPOKEN = new File([new Uint8Array(makeWav(3))], "speech.wav", { type: "audio/wav" });

describe("POST audio/transcriptions", () => {
  test("forwards the form with the vendor's name of the model, and charges the seconds that the vendor counts", async () => {
    first.reset(() => Response.json({ text: "Hello", usage: { type: "duration", seconds: 4 } }));
    const response = await postForm({ file: SPOKEN, model: "acme/hear", language: "en", provider: "{}" });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ text: "Hello", usage: { seconds: 4, cost: 0.0004 } });
    const { bytes, headers, path } = first.last();
    expect(path).toBe("/v1/audio/transcriptions");
    const form = await new Response(bytes, {
      headers: { "content-type": headers.get("content-type")! },
    }).formData();
    expect([...form.keys()]).toEqual(["file", "model", "language"]);
    expect(form.get("model")).toBe("up-hear");
    expect(Buffer.from(await (form.get("file") as File).arrayBuffer())).toEqual(makeWav(3));
    expect(await generationOf(response)).toMatchObject({
      api: "transcriptions",
      units: { audio_seconds: 4 },
      estimated: false,
      total_cost: 0.0004,
    });
  });

  test("charges the tokens of a vendor that counts tokens", async () => {
    const usage = {
      type: "tokens",
      input_tokens: 30,
      output_tokens: 5,
      input_token_details: { audio_tokens: 30 },
    };
    first.reset(() => Response.json({ text: "Hello", usage }));
    const response = await postForm({ file: SPOKEN, model: "acme/listen" });
    expect(await response.json()).toMatchObject({ usage: { ...usage, cost: 0.000125 } });
  });

  test.each(["text", "srt", "vtt"])(
    "an answer in the format %s is forwarded as text, and charged by the length of the file",
    async (format) => {
      first.reset(
        () => new Response("1\nHello\n", { headers: { "content-type": "text/plain; charset=utf-8" } }),
      );
      const response = await postForm({ file: SPOKEN, model: "acme/hear", response_format: format });
      expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
      expect(await response.text()).toBe("1\nHello\n");
      expect(await generationOf(response)).toMatchObject({
        units: { audio_seconds: 3 },
        estimated: true,
        total_cost: 0.0003,
      });
    },
  );

  test("a file whose length is unknown is charged by its size", async () => {
    first.reset(() => Response.json({ text: "Hello" }));
    const response = await postForm({
      file: new File([new Uint8Array(40_000).fill(1)], "a.webm"),
      model: "acme/hear",
    });
    expect(await response.json()).toMatchObject({ usage: { cost: 0.001, estimated: true } });
  });

  test("a vendor's duration that the file cannot have is not charged", async () => {
    first.reset(() => Response.json({ text: "Hello", duration: 1_000_000 }));
    const response = await postForm({ file: SPOKEN, model: "acme/hear", response_format: "verbose_json" });
    expect(await response.json()).toMatchObject({ duration: 1_000_000, usage: { cost: 0.0003 } });
  });

  test("the next provider gets the whole form if the first one fails", async () => {
    first.reset(() => new Response("oops", { status: 500 }));
    second.reset(() => Response.json({ text: "Hello", usage: { type: "duration", seconds: 3 } }));
    const response = await postForm({ file: SPOKEN, model: "acme/hear" });
    expect(response.headers.get("x-gateway-provider")).toBe("beta");
    expect(second.last().bytes.includes(makeWav(3))).toBe(true);
    expect(second.last().text).toContain("up-beta");
    expect(await response.json()).toMatchObject({ usage: { cost: 0.0006 } });
  });

  test("a stream of events has the vendor's usage with the cost", async () => {
    const usage = { type: "tokens", input_tokens: 30, output_tokens: 5, total_tokens: 35 };
    const last = { type: "transcript.text.done", text: "Hello", usage };
    first.reset(streamOf([{ type: "transcript.text.delta", delta: "Hel" }, last]));
    const response = await postForm({ file: SPOKEN, model: "acme/listen", stream: "true" });
    expect((await eventsOf(response)).at(-1)).toMatchObject({ ...last, usage: { ...usage, cost: 0.000125 } });
  });

  test("a key's idempotent request is not charged twice, although its answer is not kept", async () => {
    const secret = await addAccountWithKey(gateway, { id: "user_once", overdraft: 1_000_000_000 });
    first.reset(() => Response.json({ text: "Hello" }));
    const form = `--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nacme/hear\r\n--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nxx\r\n--b--\r\n`;
    const ask = () =>
      fetch(`${gateway.url}/v1/audio/transcriptions`, {
        method: "POST",
        headers: {
          ...authorization(secret),
          "content-type": "multipart/form-data; boundary=b",
          "idempotency-key": "one",
        },
        body: form,
      });
    expect((await ask()).status).toBe(200);
    expect((await ask()).status).toBe(409);
    expect(first.requests).toHaveLength(1);
  });

  test.each([
    ["application/json", "{}", 415, "The body must be a form"],
    ["multipart/form-data", "x", 400, "its content-type names no boundary"],
    ["multipart/form-data; boundary=b", "x", 400, "its boundary is not in the body"],
    ["multipart/form-data; boundary=b", "--b\r\nx: y", 400, "the head of a part does not end"],
    ["multipart/form-data; boundary=b", "--b\r\nx: y\r\n\r\nz\r\n--b--", 400, "a part has no name"],
    [
      "multipart/form-data; boundary=b",
      '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nz',
      400,
      "it ends without its last boundary",
    ],
    [
      "multipart/form-data; boundary=b",
      '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nz\r\n--b--',
      400,
      "file is required: a part with a filename",
    ],
    [
      "multipart/form-data; boundary=b",
      `${'--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nz\r\n'.repeat(65)}--b--`,
      400,
      "it has more than 64 parts",
    ],
  ])("rejects a body of type %p (%#) and says what is wrong", async (type, body, status, message) => {
    const response = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
      method: "POST",
      headers: { ...authorization(gateway.key), "content-type": type },
      body,
    });
    expect(response.status).toBe(status);
    expect(await messageOf(response)).toContain(message);
  });

  test("a form without a model, or with two, is rejected by name", async () => {
    expect(await messageOf(await postForm({ file: SPOKEN }))).toStartWith("model is required");
    const form = new FormData();
    form.append("file", SPOKEN);
    for (const model of ["acme/hear", "acme/listen"]) form.append("model", model);
    const response = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
      method: "POST",
      headers: authorization(gateway.key),
      body: form,
    });
    expect(await messageOf(response)).toBe("model is there twice; send it once.");
  });
});

test("after all requests nothing is held, and the ledger has no problem", async () => {
  await eventually("the end of all holds", async () => (await findLedgerProblems(gateway)).length === 0);
  expect(await findLedgerProblems(gateway)).toEqual([]);
});
