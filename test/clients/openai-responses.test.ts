import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import OpenAI, {
  type APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  RateLimitError,
} from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";
import { eventually } from "../support/eventually.ts";
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

type Input = OpenAI.Responses.ResponseInputItem[];
type Response = OpenAI.Responses.Response;

let vendors: StrictVendors;
let openai: OpenAI;

beforeAll(async () => {
  // Only the client preserves the reasoning that vendors require.
  vendors = await startStrictVendors("limits: {turn_memory_bytes: 0}");
  openai = clientOf();
});
afterAll(() => vendors.stop());
beforeEach(() => vendors.clear());

function clientOf(options: ConstructorParameters<typeof OpenAI>[0] = {}): OpenAI {
  const { base, key } = vendors.gateway;
  return new OpenAI({ baseURL: base, apiKey: key, maxRetries: 0, ...options });
}

async function errorOf(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("this should have failed");
}

const TOOLS: OpenAI.Responses.FunctionTool[] = Object.entries(TASK_TOOLS).map(([name, parameters]) => ({
  type: "function",
  name,
  parameters,
  strict: false,
}));

/** The parameters of a client without storage, so that it can send the reasoning back itself. */
const STATELESS = {
  store: false,
  include: ["reasoning.encrypted_content" as const],
  reasoning: { effort: "low" as const, summary: "auto" as const },
};

/** Returns the input with the answer's items and a result for each of its tool calls. */
function appendAnswer(input: Input, answer: Response): Input {
  return [...input, ...(answer.output as Input), ...runTools(answer)];
}

/** Returns a result for each tool call of an answer. */
function runTools({ output }: Response): Input {
  return output.flatMap((item) =>
    item.type === "function_call"
      ? [{ type: "function_call_output" as const, call_id: item.call_id, output: runTool(item.name) }]
      : [],
  );
}

const MODELS = Object.entries(STRICT_MODELS);

describe.each(MODELS)("a vendor of %s", (_format, model) => {
  test("answers responses.create with all typed fields", async () => {
    const { data, request_id, response } = await openai.responses
      .create({ model, input: "Hello!", instructions: "Be brief.", max_output_tokens: 2_000 })
      .withResponse();
    expect(data.output_text).toBe(SMALL_TALK);
    expect(data).toMatchObject({
      object: "response",
      status: "completed",
      model,
      error: null,
      incomplete_details: null,
      instructions: "Be brief.",
      max_output_tokens: 2_000,
      parallel_tool_calls: true,
      tools: [],
    });
    expect(data.id).toBe(response.headers.get("x-gateway-generation-id") as string);
    expect(data.created_at).toBeInteger();
    expect(data.usage?.input_tokens).toBeGreaterThan(0);
    expect(data.usage?.input_tokens_details.cached_tokens).toBe(0);
    expect(data.usage?.output_tokens_details.reasoning_tokens).toBeInteger();
    expect(request_id).toStartWith("req_");
    const [request] = vendors.requests();
    expect(request?.conversation?.entries.map(({ kind }) => kind)).toContain("text");
  });

  test("can be read with the SDK's stream helper, with events in order and the complete response last", async () => {
    const stream = openai.responses.stream({ model, input: "Hello!" });
    const types: string[] = [];
    let delta = "";
    for await (const event of stream) {
      expect(event.sequence_number).toBe(types.length);
      types.push(event.type);
      if (event.type === "response.output_text.delta") delta += event.delta;
    }
    expect(types.slice(0, 2)).toEqual(["response.created", "response.in_progress"]);
    expect(types.at(-1)).toBe("response.completed");
    const final = await stream.finalResponse();
    expect([delta, final.output_text]).toEqual([SMALL_TALK, SMALL_TALK]);
    expect(final.usage?.output_tokens).toBeGreaterThan(0);
  });

  test.each(["not streamed", "streamed"])(
    "completes a task with parallel tool calls, and gets its reasoning back unchanged: %s",
    async (mode) => {
      let input: Input = [{ role: "user", content: TASK }];
      const answers: Response[] = [];
      for (let turn = 0; turn < 3; turn++) {
        const body = { model, input, tools: TOOLS, ...STATELESS };
        const answer =
          mode === "not streamed"
            ? await openai.responses.create(body)
            : await openai.responses.stream(body).finalResponse();
        answers.push(answer);
        input = appendAnswer(input, answer);
      }
      expect(answers.at(-1)?.output_text).toBe(TASK_ANSWER);
      expect(
        answers.map(({ output }) => output.filter(({ type }) => type === "function_call").length),
      ).toEqual([1, 2, 0]);
      expectCompleteHistories(vendors, 3);
    },
  );

  test.each(["previous_response_id", "conversation"] as const)(
    "completes a task of which each turn sends only what is new, and gets its reasoning back: %s",
    async (field) => {
      const { id: conversation } = await openai.conversations.create();
      const begin = field === "conversation" ? { conversation } : { store: true };
      const settings = { model, tools: TOOLS, reasoning: STATELESS.reasoning };
      let answer = await openai.responses.create({ ...settings, ...begin, input: TASK });
      for (let turn = 1; turn < 3; turn++) {
        const state = field === "conversation" ? { conversation } : { previous_response_id: answer.id };
        answer = await openai.responses.create({
          ...settings,
          store: true,
          ...state,
          input: runTools(answer),
        });
      }
      expect(answer.output_text).toBe(TASK_ANSWER);
      expectCompleteHistories(vendors, 3);
      const types: string[] = [];
      const items =
        field === "conversation"
          ? openai.conversations.items.list(conversation, { order: "asc" })
          : openai.responses.inputItems.list(answer.id, { order: "asc" });
      for await (const item of items) types.push(item.type);
      expect(types[0]).toBe("message");
      expect(types.filter((type) => type === "function_call_output")).toHaveLength(3);
      expect(await openai.responses.retrieve(answer.id)).toMatchObject({
        id: answer.id,
        output: answer.output,
      });
    },
  );

  test.each(["polls", "reads the stream from an event on"])(
    "answers in the background a client that %s",
    async (way) => {
      const begun = await openai.responses.create({ model, input: "Hello!", background: true });
      expect(begun.status).toBe("in_progress");
      if (way === "polls") {
        const ended = await eventually("the response has ended", async () => {
          const response = await openai.responses.retrieve(begun.id);
          return response.status === "in_progress" ? null : response;
        });
        expect([ended.status, ended.output_text]).toEqual(["completed", SMALL_TALK]);
        return;
      }
      const stream = await openai.responses.retrieve(begun.id, { stream: true, starting_after: 0 });
      const numbers: number[] = [];
      let text = "";
      for await (const event of stream) {
        numbers.push(event.sequence_number);
        if (event.type === "response.output_text.delta") text += event.delta;
      }
      expect(numbers).toEqual(numbers.map((_, at) => at + 1));
      expect(text).toBe(SMALL_TALK);
    },
  );

  test("receives a request for structured output in its own format", async () => {
    const Answer = z.object({ city: z.string() });
    await openai.responses.create({
      model,
      input: "Where?",
      text: { format: zodTextFormat(Answer, "answer") },
    });
    const [request] = vendors.requests();
    expect(request?.rejection).toBeNull();
    expect(JSON.stringify(request?.body)).toContain('"city"');
  });
});

describe("structured output", () => {
  const Answer = z.object({ city: z.enum(["Paris", "Rome"]), degrees: z.number() });

  test("is parsed by the SDK, streamed and not streamed", async () => {
    const body = {
      model: "sandbox/echo",
      input: "Where is it warm?",
      text: { format: zodTextFormat(Answer, "answer") },
    };
    const whole = await openai.responses.parse(body);
    expect(whole.output_parsed).toEqual({ city: "Paris", degrees: 0 });
    const final = await openai.responses.stream(body).finalResponse();
    expect(final.output_parsed).toEqual({ city: "Paris", degrees: 0 });
  });
});

describe("an error has the SDK's class after", () => {
  const say = (input: string, more = {}) =>
    openai.responses.create({ model: "sandbox/echo", input, ...more });
  const CASES: readonly [
    name: string,
    ask: () => PromiseLike<unknown>,
    kind: new (...args: never[]) => APIError,
    status: number,
    type: string,
    code: string | null,
    param: string | null,
    message: RegExp,
  ][] = [
    [
      "a request to store the response under zero data retention",
      () => say("x", { store: true, provider: { zdr: true } }),
      BadRequestError,
      400,
      "invalid_request_error",
      null,
      "store",
      /zero data retention/,
    ],
    [
      "a previous_response_id that is not known",
      () => say("x", { previous_response_id: "resp_1" }),
      BadRequestError,
      400,
      "invalid_request_error",
      "previous_response_not_found",
      "previous_response_id",
      /resp_1/,
    ],
    [
      "a field out of range",
      () => say("x", { temperature: 3 }),
      BadRequestError,
      400,
      "invalid_request_error",
      null,
      "temperature",
      /from 0 to 2/,
    ],
    [
      "an unknown model",
      () => say("x", { model: "sandbox/echoes" }),
      BadRequestError,
      400,
      "invalid_request_error",
      "model_not_found",
      null,
      /Did you mean "sandbox\/echo"/,
    ],
    [
      "a prompt that is too long",
      () => say("[sandbox:context] x"),
      BadRequestError,
      400,
      "invalid_request_error",
      "context_length_exceeded",
      null,
      /maximum context length is 8192 tokens/,
    ],
    [
      "an invalid key",
      () => clientOf({ apiKey: "sk-wrong" }).responses.create({ model: "sandbox/echo", input: "x" }),
      AuthenticationError,
      401,
      "authentication_error",
      "invalid_api_key",
      null,
      /not valid/,
    ],
    [
      "a rate limit of the upstream",
      () => say("[sandbox:error=429,retry-after=3] x"),
      RateLimitError,
      429,
      "rate_limit_error",
      "rate_limit_exceeded",
      null,
      /limiting requests/,
    ],
    [
      "a failed upstream",
      () => say("[sandbox:error=500] x"),
      InternalServerError,
      502,
      "server_error",
      "server_error",
      null,
      /failed/,
    ],
    [
      "an overloaded upstream during streaming",
      () => say("[sandbox:error=503] x", { stream: true }),
      InternalServerError,
      503,
      "server_error",
      "server_error",
      null,
      /overloaded/,
    ],
  ];

  test.each(CASES)("%s", async (_name, ask, kind, status, type, code, param, message) => {
    const error = (await errorOf(ask())) as APIError;
    expect(error).toBeInstanceOf(kind);
    expect([error.status, error.type, error.code, error.param]).toEqual([status, type, code, param]);
    expect(error.message).toMatch(message);
    expect(error.requestID).toStartWith("req_");
  });

  test("an answer that breaks off, which the stream helper reports as a failed response", async () => {
    const stream = openai.responses.stream({ model: "sandbox/echo", input: "[sandbox:cut] one two three" });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types.at(-1)).toBe("response.failed");
    const { status, error } = await stream.finalResponse();
    expect([status, error?.code]).toEqual(["failed", "server_error"]);
  });
});

describe("a client that disconnects", () => {
  test("in the middle of a stream has its generation recorded as cancelled", async () => {
    const stream = await openai.responses.create({
      model: "sandbox/echo",
      input: "[sandbox:stall=3] one two three",
      stream: true,
    });
    let id = "";
    for await (const event of stream) {
      if (event.type === "response.created") id = event.response.id;
      if (event.type === "response.output_text.delta") break;
    }
    const line = await eventually("the log line of the cancelled request", () =>
      vendors.gateway.log.find(({ fields }) => fields["generation_id"] === id),
    );
    expect(line.fields["outcome"]).toBe("cancelled");
  });

  test("before the answer cancels the request", async () => {
    const abort = new AbortController();
    const asked = openai.responses.create(
      { model: "sandbox/echo", input: "[sandbox:silent] x" },
      { signal: abort.signal },
    );
    const failed = errorOf(asked);
    await new Promise((resolve) => setImmediate(resolve));
    abort.abort();
    expect(await failed).toBeInstanceOf(APIUserAbortError);
  });
});
