import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type AnswerSite, API_NAMES, FORMS, startAnswerSite } from "../../support/vendors/answer-site.ts";
import { SCRIPTS } from "../../support/vendors/scripts/all-scripts.ts";
import { healthyBehavior } from "../../support/vendors/scripts/vendor-script.ts";
import type { Play } from "../../support/vendors/vendor.ts";

let site: AnswerSite;

beforeAll(async () => {
  site = await startAnswerSite();
});
afterAll(() => site.stop());

/** The vendors' answers for the calls of one test, in order; the last one repeats. */
let plays: Play[] = [];
beforeEach(() => {
  plays = [];
});
const inTurn: Play = (call) => (plays.length > 1 ? plays.shift() : plays[0])?.(call);

const reject =
  (message: string, status = 400): Play =>
  (call) =>
    call.respond(status, { error: { message, type: "invalid_request_error", code: status } });

/**
 * Messages of hosts about an answer that does not fit, with the tokens that are left for it. The bound that was sent is 1,500; the prompt is
 * short. Sources stand next to the patterns in `read-overflow.ts`.
 */
const TOO_LONG: readonly (readonly [host: string, message: string, left: number])[] = [
  [
    "OpenAI",
    "This model's maximum context length is 2,048 tokens. However, you requested 2,548 tokens (1,048 in the messages, 1,500 in the completion). Please reduce the length of the messages or completion.",
    1000,
  ],
  [
    "vLLM",
    "'max_tokens' or 'max_completion_tokens' is too large: 1500. This model's maximum context length is 2048 tokens and your request has 1048 input tokens (1500 > 2048 - 1048).",
    1000,
  ],
  [
    "newer vLLM",
    "This model's maximum context length is 2048 tokens. However, your request has 1048 input tokens plus 1500 'max_tokens'. Please reduce one or the other. (parameter=input_tokens, max_tokens, value=(1048, 1500))",
    1000,
  ],
  [
    "vLLM that reads a part of the prompt",
    "You passed 549 input tokens and requested 1500 output tokens. However, the model's context length is only 2048 tokens, resulting in a maximum input length of 548 tokens. Please reduce the length of the input prompt.",
    1499,
  ],
  [
    "SGLang",
    "Requested token count exceeds the model's maximum context length of 2048 tokens. You requested a total of 2548 tokens: 1048 tokens from the input messages and 1500 tokens for the completion. Please reduce the number of tokens.",
    1000,
  ],
  [
    "Bedrock Mantle",
    "maximum context length is 2048 tokens. However, you requested 1500 output tokens and your prompt contains 1048 input tokens, for a total of 2548 tokens.",
    1000,
  ],
  ["SiliconFlow", "max_total_tokens (2548) must be less than or equal to max_seq_len (2048)", 1000],
  [
    "Anthropic",
    "input length and `max_tokens` exceed context limit: 1048 + 1500 > 2048, decrease input length or `max_tokens` and try again",
    1000,
  ],
];

const BOUNDS = {
  chat: { max_tokens: 1500 },
  responses: { max_output_tokens: 1500 },
  messages: { max_tokens: 1500 },
} as const;
const MODELS = {
  chat: SCRIPTS["openai-chat"],
  messages: SCRIPTS["anthropic-messages"],
  responses: SCRIPTS["openai-responses"],
} as const;

describe.each(API_NAMES)("a %s client with an answer that may be too long for the context window", (api) => {
  describe.each(FORMS)("and is %s", (_form, stream) => {
    test.each(TOO_LONG)("gets an answer that fits, after an error of %s", async (_host, message, left) => {
      plays = [reject(message), healthyBehavior(SCRIPTS["openai-chat"], "Alpha")];
      const answer = await site.ask(api, "chat", { stream, play: inTurn, more: BOUNDS[api] });
      expect(answer).toMatchObject({ status: 200, text: "Alpha one two" });
      const [first, second, ...others] = site.vendor.calls.map(({ body }) => body["max_tokens"]);
      expect([first, second, others]).toEqual([1500, left, []]);
      expect(JSON.stringify([answer.body, answer.events])).toContain(`The prompt leaves ${left} tokens`);
    });
  });

  test.each(["messages", "responses"] as const)("gets an answer of a %s host that fits", async (model) => {
    plays = [reject(TOO_LONG[0]![1]), healthyBehavior(MODELS[model], "Alpha")];
    const answer = await site.ask(api, model, { stream: false, play: inTurn, more: BOUNDS[api] });
    expect(answer).toMatchObject({ status: 200, text: "Alpha one two" });
    const { max_tokens, max_output_tokens } = site.vendor.calls[1]!.body;
    expect(max_tokens ?? max_output_tokens).toBe(1000);
  });

  test("gets the error if the host rejects the lower bound too", async () => {
    plays = [reject(TOO_LONG[0]![1])];
    const answer = await site.ask(api, "chat", { stream: false, play: inTurn, more: BOUNDS[api] });
    expect([answer.status, site.vendor.calls.length]).toEqual([400, 2]);
  });
});

/** Messages about a prompt that does not fit, and its tokens. */
const OVERFLOWS: readonly (readonly [host: string, message: string, requested: number])[] = [
  [
    "OpenAI",
    "Input tokens exceed the configured limit of 2048 tokens. Your messages resulted in 2896 tokens. Please reduce the length of the messages.",
    2896,
  ],
  [
    "vLLM",
    "This model's maximum context length is 2048 tokens. However, your request has 2896 input tokens. Please reduce the length of the input messages.",
    2896,
  ],
  ["SiliconFlow", "length of prompt_tokens (2896) must be less than max_seq_len (2048).", 2896],
  [
    "Bedrock Mantle",
    "maximum context length is 2048 tokens. However, you requested 1500 output tokens and your prompt contains 2896 input tokens, for a total of 4396 tokens.",
    2896,
  ],
  [
    "a host that counts both",
    "This model's maximum context length is 2048 tokens. However, you requested 4396 tokens (2896 in the messages, 1500 in the completion).",
    2896,
  ],
];

describe("a prompt that exceeds the context window", () => {
  test.each(OVERFLOWS)(
    "is rejected with its own tokens, after an error of %s",
    async (_host, message, requested) => {
      plays = [reject(message)];
      const answer = await site.ask("chat", "chat", { stream: false, play: inTurn, more: BOUNDS.chat });
      expect([answer.status, site.vendor.calls.length]).toEqual([400, 1]);
      expect(JSON.stringify(answer.body)).toContain("context_length_exceeded");
      expect(JSON.stringify(answer.body)).toContain(String(requested));
    },
  );

  test("is not read from an error about the balance", async () => {
    plays = [reject("Insufficient balance: maximum context length is 2048 tokens, requested 2896", 402)];
    expect(await site.ask("chat", "chat", { stream: false, play: inTurn })).toMatchObject({ status: 503 });
  });
});
