import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import OpenAI, { BadRequestError, toFile } from "openai";
import { makeWav } from "../support/clients/wav.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { type RecordingVendor, startRecordingVendor } from "../support/vendors/recording-vendor.ts";

let vendor: RecordingVendor;
let gateway: TestGateway;
let openai: OpenAI;

beforeAll(async () => {
  vendor = startRecordingVendor();
  gateway = await startTestGateway({
    environment: { OPENAI_API_KEY: "sk-openai-0123456789", OPENAI_BASE_URL: vendor.baseUrl },
  });
  openai = new OpenAI({ baseURL: gateway.base, apiKey: gateway.key, maxRetries: 0 });
});
beforeEach(() => vendor.reset());
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));

function streamOf(events: readonly object[]): Response {
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

test("moderations.create checks a text with OpenAI's default model", async () => {
  const results = [{ flagged: true, categories: { violence: true }, category_scores: { violence: 1 } }];
  vendor.reset(() => Response.json({ id: "modr-1", model: "omni-moderation-latest", results }));
  const answer = await openai.moderations.create({ input: "Violence." });
  expect(answer.results[0]?.flagged).toBe(true);
  expect(answer.model).toBe("openai/omni-moderation-latest");
  expect(vendor.last().path).toBe("/v1/moderations");
});

test("images.generate returns the images, and its usage has the cost", async () => {
  const usage = { total_tokens: 1_010, input_tokens: 10, output_tokens: 1_000 };
  vendor.reset(() => Response.json({ created: 1, data: [{ b64_json: "aGk=" }], usage }));
  const answer = await openai.images.generate({ model: "openai/gpt-image-2", prompt: "A boat." });
  expect(answer.data?.[0]?.b64_json).toBe("aGk=");
  expect(answer.usage).toMatchObject({ ...usage, cost: 0.03005 });
});

test("images.generate streams partial images", async () => {
  const usage = { total_tokens: 1_010, input_tokens: 10, output_tokens: 1_000 };
  vendor.reset(() =>
    streamOf([
      { type: "image_generation.partial_image", b64_json: "aGk=", partial_image_index: 0 },
      { type: "image_generation.completed", b64_json: "aGk=", usage },
    ]),
  );
  const stream = await openai.images.generate({
    model: "openai/gpt-image-2",
    prompt: "A boat.",
    stream: true,
    partial_images: 1,
  });
  const events = await Array.fromAsync(stream);
  expect(events.map(({ type }) => type)).toEqual([
    "image_generation.partial_image",
    "image_generation.completed",
  ]);
});

test("audio.speech.create returns the audio", async () => {
  const audio = makeWav(1);
  vendor.reset(() => new Response(new Uint8Array(audio), { headers: { "content-type": "audio/wav" } }));
  const response = await openai.audio.speech.create({
    model: "openai/tts-1",
    input: "Hello!",
    voice: "alloy",
  });
  expect(response.headers.get("content-type")).toBe("audio/wav");
  expect(Buffer.from(await response.arrayBuffer())).toEqual(audio);
});

test("audio.transcriptions.create sends a file and returns its text", async () => {
  vendor.reset(() => Response.json({ text: "Hello!", usage: { type: "duration", seconds: 2 } }));
  const file = await toFile(makeWav(2), "speech.wav");
  const answer = await openai.audio.transcriptions.create({ model: "openai/whisper-1", file });
  expect(answer.text).toBe("Hello!");
  expect(answer.usage).toMatchObject({ seconds: 2, cost: 0.0002 });
  expect(vendor.last().bytes.includes(makeWav(2))).toBe(true);
});

test("audio.transcriptions.create returns subtitles as text", async () => {
  const subtitles = "1\n00:00:00,000 --> 00:00:02,000\nHello!\n";
  vendor.reset(() => new Response(subtitles, { headers: { "content-type": "text/plain" } }));
  const file = await toFile(makeWav(2), "speech.wav");
  const request = { model: "openai/whisper-1", file, response_format: "srt" } as const;
  expect(await openai.audio.transcriptions.create(request)).toBe(subtitles);
});

test("audio.transcriptions.create streams the text", async () => {
  const usage = { type: "tokens", input_tokens: 20, output_tokens: 3, total_tokens: 23 };
  vendor.reset(() =>
    streamOf([
      { type: "transcript.text.delta", delta: "Hello!" },
      { type: "transcript.text.done", text: "Hello!", usage },
    ]),
  );
  const file = await toFile(makeWav(2), "speech.wav");
  const stream = await openai.audio.transcriptions.create({
    model: "openai/gpt-4o-transcribe",
    file,
    stream: true,
  });
  const events = await Array.fromAsync(stream);
  expect(events.at(-1)).toMatchObject({ type: "transcript.text.done", usage: { ...usage, cost: 0.00008 } });
});

test("an error of the vendor is the SDK's error", async () => {
  vendor.reset(() =>
    Response.json({ error: { message: "unknown voice", type: "invalid_request_error" } }, { status: 400 }),
  );
  const asking = openai.audio.speech.create({ model: "openai/tts-1", input: "Hello!", voice: "alloy" });
  const error = await asking.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(BadRequestError);
  expect((error as Error).message).toContain("unknown voice");
});
