import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";
import {
  expectCompleteHistories,
  runTool,
  SMALL_TALK,
  STRICT_MODELS,
  type StrictVendors,
  startStrictVendors,
  TASK,
  TASK_ANSWER,
  TASK_TOOLS,
} from "./strict-vendors.ts";

type Response = OpenAI.Responses.Response;

let vendors: StrictVendors;
let socket: ResponsesWS;

beforeAll(async () => {
  // Only the connection keeps the reasoning that vendors require.
  vendors = await startStrictVendors("limits: {turn_memory_bytes: 0}");
});
afterAll(() => vendors.stop());
beforeEach(() => {
  vendors.clear();
  const { base, key } = vendors.gateway;
  socket = new ResponsesWS(new OpenAI({ baseURL: base, apiKey: key }));
});
afterEach(() => socket.close());

const TOOLS: OpenAI.Responses.FunctionTool[] = Object.entries(TASK_TOOLS).map(([name, parameters]) => ({
  type: "function",
  name,
  parameters,
  strict: false,
}));

/** Asks for a response with the SDK's WebSocket, and reads it to its end. */
async function create(body: object): Promise<Response> {
  const events = socket.stream();
  socket.send({ type: "response.create", store: false, ...body });
  for await (const event of events) {
    if (event.type === "error") throw event.error;
    if (event.type !== "message") continue;
    const { message } = event;
    if (message.type === "response.completed") return message.response;
    if (message.type === "response.failed") throw new Error(JSON.stringify(message));
  }
  throw new Error("the connection has ended");
}

describe.each(Object.entries(STRICT_MODELS))("a vendor of %s over a WebSocket", (_format, model) => {
  test("answers response.create", async () => {
    const response = await create({ model, input: "Hello!" });
    expect(response).toMatchObject({ status: "completed", model, previous_response_id: null });
    expect(JSON.stringify(response.output)).toContain(SMALL_TALK);
  });

  test("completes a task with parallel tool calls of which each turn sends only the results, and gets its reasoning back", async () => {
    const reasoning = { effort: "low", summary: "auto" };
    let response = await create({ model, input: TASK, tools: TOOLS, reasoning });
    for (let turn = 1; turn < 3; turn++) {
      const calls = response.output.filter(({ type }) => type === "function_call");
      expect(calls).toHaveLength(turn);
      const input = calls.map((call) => ({
        type: "function_call_output",
        call_id: (call as OpenAI.Responses.ResponseFunctionToolCall).call_id,
        output: runTool((call as OpenAI.Responses.ResponseFunctionToolCall).name),
      }));
      response = await create({ model, input, tools: TOOLS, reasoning, previous_response_id: response.id });
    }
    expect(JSON.stringify(response.output)).toContain(TASK_ANSWER);
    expectCompleteHistories(vendors, 3);
  });
});

test("an error frame is an error of the SDK, with its code", async () => {
  const failed = create({ model: "sandbox/echo", input: "Hi", previous_response_id: "resp_lost" });
  expect(await failed.catch((error: { error?: unknown }) => error.error)).toMatchObject({
    type: "error",
    status: 400,
    error: { code: "previous_response_not_found", param: "previous_response_id" },
  });
});
