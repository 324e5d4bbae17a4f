import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { type MistralClient, openMistral } from "../support/mistral-sdk.ts";
import { type RecordingVendor, startRecordingVendor } from "../support/recording-vendor.ts";

let codestral: RecordingVendor;
let gateway: TestGateway;
let mistral: MistralClient;

beforeAll(async () => {
  codestral = startRecordingVendor();
  gateway = await startTestGateway({
    yaml: `
sandbox: "on"
providers:
  codestral: {base_url: "${codestral.baseUrl}", api_keys: [codestral-key-1]}`,
  });
  mistral = await openMistral({ apiKey: gateway.key, serverURL: gateway.url });
});
afterAll(() => Promise.all([gateway.stop(), codestral.stop()]));

const CHAT = { model: "sandbox/echo", messages: [{ role: "user", content: "Hello!" }] };
const FIM = { model: "mistralai/codestral-latest", prompt: "def add(a, b):\n    return " };

describe("Mistral's client", () => {
  test("reads a chat answer", async () => {
    const { model, choices, usage } = await mistral.chat.complete(CHAT);
    expect(model).toBe("sandbox/echo");
    expect(choices[0]).toMatchObject({ message: { content: "You said: Hello!" }, finishReason: "stop" });
    expect(usage).toMatchObject({ promptTokens: 2, completionTokens: 4 });
  });

  test("reads a chat stream, its usage with its finish", async () => {
    let text = "";
    let last = null;
    for await (const { data } of await mistral.chat.stream(CHAT)) {
      text += data.choices[0]?.delta.content ?? "";
      last = data;
    }
    expect(text).toBe("You said: Hello!");
    expect(last).toMatchObject({ choices: [{ finishReason: "stop" }], usage: { completionTokens: 4 } });
  });

  test("fills in the middle, whole and streamed", async () => {
    const { choices } = await mistral.fim.complete(FIM);
    expect(choices[0]?.message.content).toBe("Hello there.");
    let text = "";
    for await (const { data } of await mistral.fim.stream(FIM)) text += data.choices[0]?.delta.content ?? "";
    expect(text).toBe("Hello there.");
  });

  test("throws with the status and the body of an error", async () => {
    const failed = mistral.chat.complete({ ...CHAT, model: "acme/nothing" }).catch((error) => error);
    const { statusCode, body } = await failed;
    expect(statusCode).toBe(400);
    expect(JSON.parse(body)).toMatchObject({ error: { type: "invalid_model" } });
  });
});
