import { afterAll, beforeAll, expect, test } from "bun:test";
import { postChat, readEvents, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

test("a chat completion is answered in OpenAI's format", async () => {
  const response = await postChat(gateway, {
    model: "sandbox/echo",
    messages: [{ role: "user", content: "Hello!" }],
  });
  expect(response.status).toBe(200);
  const body = (await response.json()) as { choices: { message: { content: string } }[] };
  expect(body.choices[0]?.message.content).toBe("You said: Hello!");
});

test("a stream ends with one finish reason and [DONE]", async () => {
  const response = await postChat(gateway, {
    model: "sandbox/echo",
    stream: true,
    messages: [{ role: "user", content: "Hello!" }],
  });
  const events = await readEvents(response);
  expect(events.at(-1)).toBe("[DONE]");
  expect(events.filter((event) => event.includes('"finish_reason":"stop"'))).toHaveLength(1);
});
