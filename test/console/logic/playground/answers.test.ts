import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  APIS,
  type Api,
  type Conversation,
  emptyConversation,
} from "../../../../src/console/conversation/conversation.ts";
import { CODE_CLIENTS, printCode } from "../../../../src/console/conversation/print-code.ts";
import { API_PATHS, printRequest } from "../../../../src/console/conversation/print-request.ts";
import {
  type Answer,
  emptyAnswer,
  readError,
  readEvent,
  toTurn,
} from "../../../../src/console/screens/playground/read-answer.ts";
import { createEventReader } from "../../../../src/console/screens/playground/read-events.ts";
import { startTestGateway, type TestGateway } from "../../../support/gateway/gateway.ts";

const MODEL = "sandbox/echo:free";
const TOOL = {
  name: "weather",
  description: "The weather.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({ yaml: 'sandbox: "on"\n' });
});
afterAll(() => gateway.stop());

const say = (text: string, rest: Partial<Conversation> = {}): Conversation => ({
  ...emptyConversation(),
  turns: [{ role: "user", text, images: [] }],
  ...rest,
});

/** Sends a conversation as the playground does, and reads the answer in pieces of `size` bytes. */
async function ask(api: Api, conversation: Conversation, size = 7): Promise<Answer> {
  const response = await fetch(gateway.url + API_PATHS[api], {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(printRequest(api, MODEL, conversation)),
  });
  expect(response.status).toBe(200);
  const bytes = await response.bytes();
  const decoder = new TextDecoder();
  const read = createEventReader();
  let answer = emptyAnswer();
  for (let at = 0; at < bytes.length; at += size)
    for (const { data } of read(decoder.decode(bytes.subarray(at, at + size), { stream: true })))
      answer = readEvent(api, answer, data);
  return answer;
}

describe.each([...APIS])("the playground over %s", (api) => {
  test("reads text, reasoning, tokens and cost of a streamed answer", async () => {
    const answer = await ask(api, say("Grüße, 世界 [sandbox:reasoning]"));
    expect(answer).toMatchObject({
      text: "You said: Grüße, 世界",
      reasoning: expect.stringContaining("Grüße, 世界"),
      calls: [],
      error: null,
      usage: { cost: 0, promptTokens: expect.any(Number), reasoningTokens: expect.any(Number) },
    });
    expect(answer.finish).not.toBeNull();
  });

  test("reads calls, and the model gets the results that are sent for them", async () => {
    const first = say("[sandbox:tools]", { tools: [TOOL] });
    const turn = toTurn(await ask(api, first));
    expect(turn.calls).toEqual([{ id: expect.any(String), name: "weather", arguments: '{"city":""}' }]);
    const results = turn.calls.map(({ id, name }) => ({ callId: id, name, text: "rain" }));
    const next = { ...first, turns: [...first.turns, turn, { role: "tool" as const, results }] };
    expect((await ask(api, next)).text).toBe("The tools answered: rain");
  });

  test("reads why a stream broke, and keeps what came before", async () => {
    const answer = await ask(api, say("one two [sandbox:error-late]"));
    expect(answer.text).toStartWith("You said:");
    expect(answer.error).toContain("Try again");
  });

  test("takes an answer in one piece and in single bytes alike", async () => {
    const conversation = say("the same [sandbox:reasoning]");
    expect(await ask(api, conversation, 1)).toEqual(await ask(api, conversation, 1_000_000));
  });

  test("accepts every parameter of the settings", async () => {
    const settings = {
      system: "S",
      temperature: 0.1,
      topP: 0.9,
      maxTokens: 50,
      effort: "low",
      tools: [TOOL],
    };
    expect((await ask(api, say("hi", { ...settings, toolChoice: "none" }))).text).toBe("You said: hi");
  });

  test.each(CODE_CLIENTS.map(({ value }) => value))(
    "prints code for %s that runs and prints the answer",
    async (client) => {
      const conversation = say('It\'s "quoted" $HOME `x`', { system: "S", tools: [TOOL] });
      const code = printCode(client, { api, model: MODEL, conversation, baseUrl: gateway.url });
      expect(await run(client === "curl" ? ["sh", "-c", code] : [process.execPath, "-e", code])).toContain(
        client === "curl" ? "said" : 'You said: It\'s "quoted" $HOME `x`',
      );
    },
  );
});

async function run(command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], {
    env: { PATH: process.env["PATH"] ?? "", GATEWAY_API_KEY: "anonymous" },
    cwd: `${import.meta.dir}/../../..`,
    stdout: "pipe",
    stderr: "pipe",
    timeout: 30_000,
  });
  const [out, problems, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  expect([code, code === 0 ? "" : problems]).toEqual([0, ""]);
  return out;
}

test.each([...APIS])("an error response of %s is shown in the words of the gateway", async (api) => {
  const response = await fetch(gateway.url + API_PATHS[api], {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(printRequest(api, "no/such-model", say("hi"))),
  });
  expect(readError(await response.text(), response.status)).toContain("no/such-model");
});

test("an error response that is not JSON is shown with its status", () => {
  expect(readError("<html>", 502)).toBe("The gateway answered with status 502.");
});

test("code for the AI SDK has the messages, tools and parameters of the conversation, and no key", () => {
  const conversation = say("hi", { tools: [TOOL], temperature: 0.5, maxTokens: 9, toolChoice: "required" });
  const code = printCode("ai", { api: "chat", model: MODEL, conversation, baseUrl: "https://gw.example" });
  for (const part of [
    "streamText",
    '"weather": tool(',
    "maxOutputTokens: 9",
    'toolChoice: "required"',
    "/v1",
  ])
    expect(code).toContain(part);
  expect(code).toContain("process.env.GATEWAY_API_KEY");
});

test("events with CRLF, comments and several data lines are read, and an unfinished one waits", () => {
  const read = createEventReader();
  expect(read(": ping\r\n\r\nevent: a\r\ndata: 1\r\ndata:2\r").map(({ data }) => data)).toEqual([""]);
  expect(read("\n\r\ndata: half").map(({ data }) => data)).toEqual(["1\n2"]);
  expect(read("\n\n").map(({ data }) => data)).toEqual(["half"]);
});
