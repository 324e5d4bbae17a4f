import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { answerAnyFormat } from "../../support/vendors/answer-any-format.ts";
import { type RecordingVendor, startRecordingVendor } from "../../support/vendors/recording-vendor.ts";

/* Requests with images, files, audio and video to models without, with and with unknown support for them. */

let vendor: RecordingVendor;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startRecordingVendor();
  const { baseUrl } = vendor;
  const host = `base_url: "${baseUrl}", formats: [openai-chat, openai-responses, anthropic-messages]`;
  gateway = await startTestGateway({
    yaml: `
providers:
  groq: { base_url: "${baseUrl}", api_keys: [key] }
  openrouter: { base_url: "${baseUrl}", api_keys: [key] }
  hosts:
    ${host.replace(", formats", "\n    formats")}
    models:
      - { id: own/blind, input: [text] }
      - { id: own/seeing, input: [text, image, file, audio, video] }
      - { id: own/undescribed }
`,
  });
});
beforeEach(() => vendor.reset(answerAnyFormat));
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));

type Body = Readonly<Record<string, unknown>>;

const PNG = "iVBORw0KGgo=";
const image = { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } };
const pdf = { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERg==" } };
const base64 = (media_type: string) => ({ type: "base64", media_type, data: PNG });

const call = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };
const user = { role: "user", content: "x" };

/** For each client API requests with a medium, and the modality of that medium. */
const REQUESTS: readonly (readonly [string, string, string, Body])[] = [
  ["an image in chat", "/chat/completions", "image", { messages: [{ role: "user", content: [image] }] }],
  ["a PDF in chat", "/chat/completions", "file", { messages: [{ role: "user", content: [pdf] }] }],
  [
    "audio in chat",
    "/chat/completions",
    "audio",
    {
      messages: [
        { role: "user", content: [{ type: "input_audio", input_audio: { data: PNG, format: "wav" } }] },
      ],
    },
  ],
  [
    "a video in chat",
    "/chat/completions",
    "video",
    {
      messages: [
        { role: "user", content: [{ type: "video_url", video_url: { url: "https://v.test/v.mp4" } }] },
      ],
    },
  ],
  [
    "an image in a tool result in chat",
    "/chat/completions",
    "image",
    {
      messages: [
        user,
        { role: "assistant", tool_calls: [call] },
        { role: "tool", tool_call_id: "call_1", content: [image] },
      ],
    },
  ],
  [
    "an image of an earlier turn in chat",
    "/chat/completions",
    "image",
    { messages: [{ role: "user", content: [image] }, { role: "assistant", content: "Hm." }, user] },
  ],
  [
    "an image in responses",
    "/responses",
    "image",
    {
      input: [
        { role: "user", content: [{ type: "input_image", image_url: `data:image/png;base64,${PNG}` }] },
      ],
    },
  ],
  [
    "a PDF in responses",
    "/responses",
    "file",
    {
      input: [
        {
          role: "user",
          content: [
            { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERg==" },
          ],
        },
      ],
    },
  ],
  [
    "an image in a tool's result in responses",
    "/responses",
    "image",
    {
      input: [
        user,
        { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
        {
          type: "function_call_output",
          call_id: "c",
          output: [{ type: "input_image", image_url: `data:image/png;base64,${PNG}` }],
        },
      ],
    },
  ],
  [
    "an image in messages",
    "/messages",
    "image",
    {
      max_tokens: 9,
      messages: [{ role: "user", content: [{ type: "image", source: base64("image/png") }] }],
    },
  ],
  [
    "a PDF in messages",
    "/messages",
    "file",
    {
      max_tokens: 9,
      messages: [{ role: "user", content: [{ type: "document", source: base64("application/pdf") }] }],
    },
  ],
  [
    "an image in a tool's result in messages",
    "/messages",
    "image",
    {
      max_tokens: 9,
      messages: [
        user,
        { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: {} }] },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "t",
              content: [{ type: "image", source: base64("image/png") }],
            },
          ],
        },
      ],
    },
  ],
];

function post(path: string, body: Body): Promise<Response> {
  return fetch(`${gateway.base}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

const PLURAL: Readonly<Record<string, string>> = {
  image: "images",
  file: "files",
  audio: "audio",
  video: "video",
};

describe.each(REQUESTS)("%s", (_name, path, modality, body) => {
  test("is rejected with 400 before any upstream is called if the model is known not to support it", async () => {
    const response = await post(path, { ...body, model: "own/blind" });
    const { error } = (await response.json()) as { error: { message: string } };
    expect(response.status).toBe(400);
    const field = path === "/responses" ? "input" : "messages";
    expect(error.message).toStartWith(
      `"own/blind" does not accept ${PLURAL[modality]}, and there are ${PLURAL[modality]} in ${field}: its input modalities are text.`,
    );
    expect(vendor.requests).toEqual([]);
  });

  test("is sent to a fallback model that supports it", async () => {
    const response = await post(path, { ...body, model: "own/blind", models: ["own/seeing"] });
    expect([response.status, response.headers.get("x-gateway-model")]).toEqual([200, "own/seeing"]);
    expect(response.headers.get("x-gateway-route")).toContain("hosts;out=lacks_feature");
  });

  test("is sent to a model whose modalities are unknown", async () => {
    expect((await post(path, { ...body, model: "own/undescribed" })).status).toBe(200);
  });
});

test("an image to a text model of the catalog is rejected with 400", async () => {
  const body = { model: "meta-llama/llama-3.3-70b-instruct", messages: [{ role: "user", content: [image] }] };
  const response = await post("/chat/completions", body);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: { type: "invalid_request", metadata: { field: "messages", lacks: "image", model: body.model } },
  });
});

test("a file to a text model is sent to the provider that converts files to text", async () => {
  const body = { model: "meta-llama/llama-3.3-70b-instruct", messages: [{ role: "user", content: [pdf] }] };
  const response = await post("/chat/completions", body);
  expect([response.status, response.headers.get("x-gateway-provider")]).toEqual([200, "openrouter"]);
});

test("a plain-text document in Messages counts as text", async () => {
  const source = { type: "text", media_type: "text/plain", data: "Hello" };
  const messages = [{ role: "user", content: [{ type: "document", source }] }];
  expect((await post("/messages", { model: "own/blind", max_tokens: 9, messages })).status).toBe(200);
});
