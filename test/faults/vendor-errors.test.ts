import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { postChat } from "../support/gateway/gateway.ts";
import { healthy } from "../support/vendors/vendor.ts";
import { fetchRecord, PROMPT, startTwoVendors, type TwoVendors } from "./two-vendors.ts";

let vendors: TwoVendors;

beforeAll(async () => {
  vendors = await startTwoVendors();
});
afterAll(() => vendors.stop());
beforeEach(() => vendors.reset());

/** An error of a vendor. `code` and `type` are fields next to the message. */
interface VendorError {
  readonly vendor: string;
  readonly status?: number;
  readonly message: string;
  readonly code?: string | number;
  readonly type?: string;
}

interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly metadata: Readonly<Record<string, unknown>>;
  };
}

async function ask(
  words: VendorError,
  model = "acme/alone",
): Promise<{ response: Response; body: ErrorBody; text: string }> {
  const { vendor: _, status = 400, ...error } = words;
  vendors.a.perform((call) => call.respond(status, { error }));
  const messages = [{ role: "user", content: PROMPT }];
  const response = await postChat(vendors.gateway, { model, messages });
  const text = await response.text();
  return { response, body: JSON.parse(text), text };
}

/** The model's context window in the configuration, used if the vendor does not report one. */
const CONFIGURED_LIMIT = 8192;

const OVERFLOWS: readonly (VendorError & { readonly limit: number; readonly requested?: number })[] = [
  {
    vendor: "OpenAI",
    message:
      "This model's maximum context length is 4097 tokens. However, your messages resulted in 7575 tokens. Please reduce the length of the messages.",
    code: "context_length_exceeded",
    limit: 4097,
    requested: 7575,
  },
  {
    vendor: "OpenAI for its newest models",
    message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
    code: "context_length_exceeded",
    limit: CONFIGURED_LIMIT,
  },
  {
    vendor: "vLLM",
    message:
      "This model's maximum context length is 2048 tokens. However, you requested 2049 tokens (1681 in the messages, 368 in the completion). Please reduce the length.",
    type: "BadRequestError",
    code: 400,
    limit: 2048,
    requested: 2049,
  },
  {
    vendor: "another gateway",
    message:
      "This endpoint's maximum context length is 163,840 tokens. However, you requested about 200,000 tokens (168,000 of text input, 32,000 in the output).",
    limit: 163_840,
    requested: 200_000,
  },
  {
    vendor: "Anthropic",
    message: "prompt is too long: 201234 tokens > 200000 maximum",
    type: "invalid_request_error",
    limit: 200_000,
    requested: 201_234,
  },
  {
    vendor: "Mistral",
    message:
      "Prompt contains 40229 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    type: "invalid_request_prompt",
    code: "3051",
    limit: 32_768,
    requested: 40_229,
  },
  {
    vendor: "Gemini",
    message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    limit: 1_048_576,
    requested: 1_200_000,
  },
  {
    vendor: "xAI",
    message: "This model's maximum prompt length is 131072 but the request contains 131100 tokens.",
    limit: 131_072,
    requested: 131_100,
  },
  {
    vendor: "Groq",
    message: "Please reduce the length of the messages or completion.",
    code: "context_length_exceeded",
    limit: CONFIGURED_LIMIT,
  },
  {
    vendor: "Moonshot",
    message: "Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)",
    type: "invalid_request_error",
    limit: 262_144,
    requested: 269_030,
  },
  {
    vendor: "llama.cpp",
    message: "request (9214 tokens) exceeds the available context size (4096 tokens), try increasing it",
    type: "exceed_context_size_error",
    limit: 4096,
    requested: 9214,
  },
  {
    vendor: "LM Studio",
    message:
      "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 5000 >= n_ctx: 4096).",
    limit: CONFIGURED_LIMIT,
  },
  {
    vendor: "Ollama",
    message: "prompt too long; exceeded max context length by 4096 tokens",
    limit: CONFIGURED_LIMIT,
  },
  {
    vendor: "Fireworks",
    message: "The prompt is too long: 140000, model maximum context length: 131071",
    limit: 131_071,
    requested: 140_000,
  },
  {
    vendor: "Cerebras",
    message:
      "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8191",
    code: "context_length_exceeded",
    // One token less than the catalog's window counts as the same window.
    limit: CONFIGURED_LIMIT,
    requested: 9000,
  },
  {
    vendor: "Together",
    status: 422,
    message:
      "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 `inputs` tokens and 100 `max_new_tokens`",
    limit: 4097,
    requested: 5000,
  },
  {
    vendor: "Cohere",
    message:
      "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000. Try using a shorter prompt.",
    limit: 4081,
    requested: 5000,
  },
  {
    vendor: "DashScope",
    message: "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]",
    limit: 30_720,
  },
  {
    vendor: "OpenAI for a huge text",
    message:
      "Invalid 'messages[0].content': string too long. Expected a string with maximum length 10485760, but got a string with length 12000000 instead.",
    code: "string_above_max_length",
    limit: CONFIGURED_LIMIT,
  },
  { vendor: "MiniMax", message: "invalid params, context window exceeds limit", limit: CONFIGURED_LIMIT },
  { vendor: "Z.ai", message: "Prompt exceeds max length", code: "1261", limit: CONFIGURED_LIMIT },
  { vendor: "Bedrock", message: "Input is too long for requested model.", limit: CONFIGURED_LIMIT },
];

describe("a prompt that exceeds the context window", () => {
  for (const { limit, requested, ...words } of OVERFLOWS) {
    test(`as reported by ${words.vendor} is reported in the form that clients recognize`, async () => {
      const { response, body } = await ask(words, "acme/both");
      expect(response.status).toBe(400);
      expect(body.error.type).toBe("context_length_exceeded");
      expect(body.error.message).toContain(`maximum context length is ${limit} tokens`);
      // A vendor that does not report the number found at least one token too many.
      expect(body.error.metadata).toMatchObject({ limit, requested: requested ?? limit + 1 });
      expect(body.error.message).toContain(
        requested === undefined ? `at least ${limit + 1} tokens` : `about ${requested} tokens`,
      );
      expect(vendors.b.calls).toHaveLength(0);
    });
  }
});

test("a too long tool-call id is not reported as a too long prompt", async () => {
  const { response, body } = await ask({
    vendor: "OpenAI",
    message:
      "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 53 instead.",
    code: "string_above_max_length",
  });
  expect(response.status).toBe(400);
  expect(body.error.type).toBe("invalid_request");
});

const OUT_OF_CREDIT: readonly VendorError[] = [
  { vendor: "DeepSeek", status: 402, message: "Insufficient Balance", code: "invalid_request_error" },
  {
    vendor: "OpenAI",
    status: 429,
    message: "You exceeded your current quota, please check your plan and billing details.",
    type: "insufficient_quota",
    code: "insufficient_quota",
  },
  {
    vendor: "OpenAI for a hard limit",
    message: "Billing hard limit has been reached.",
    code: "billing_hard_limit_reached",
  },
  {
    vendor: "OpenAI for a closed account",
    status: 429,
    message: "Your account is not active, please check your billing details on our website.",
    code: "billing_not_active",
  },
  {
    vendor: "Anthropic",
    message:
      "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
    type: "invalid_request_error",
  },
  {
    vendor: "Moonshot",
    status: 429,
    message: "Your account is suspended due to insufficient balance, please recharge your account.",
    type: "exceeded_current_quota_error",
  },
  {
    vendor: "Z.ai",
    status: 429,
    message: "Insufficient balance or no resource package. Please recharge.",
    code: "1113",
  },
  {
    vendor: "xAI",
    status: 403,
    message:
      "Your team has either used all available credits or reached its monthly spending limit. Please purchase more credits.",
    code: "permission-denied",
  },
  {
    vendor: "Fireworks",
    status: 412,
    message:
      "Account acme is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices.",
  },
  {
    vendor: "Perplexity",
    status: 401,
    message: "You exceeded your current quota, please check your plan and billing details.",
    type: "insufficient_quota",
  },
  { vendor: "SiliconFlow", status: 403, message: "Sorry, your account balance is insufficient", code: 30001 },
];

describe("an account that is out of credit", () => {
  for (const words of OUT_OF_CREDIT) {
    test(`as reported by ${words.vendor} is a 503 that does not mention it`, async () => {
      const { response, body, text } = await ask(words);
      expect(response.status).toBe(503);
      expect(body.error.type).toBe("unavailable");
      expect(response.headers.get("retry-after")).toBe("60");
      const record = await fetchRecord(
        vendors.gateway,
        response.headers.get("x-gateway-generation-id") as string,
      );
      expect((record["attempts"] as unknown[])[0]).toMatchObject({ upstream_status: null });
      expect(text).not.toMatch(/credit|billing|quota|balance|recharge|suspended|spending|insufficient|402/i);
    });
  }

  test("is not recognized if the vendor only repeats the client's text", async () => {
    const { response } = await ask({
      vendor: "OpenAI",
      message: "Invalid value: 'insufficient balance'. Supported values are: 'json_object' and 'text'.",
    });
    expect(response.status).toBe(400);
    const next = await ask({ vendor: "OpenAI", message: "Invalid value." });
    expect(next.response.status).toBe(400);
  });
});

describe("a rate limit of the vendor", () => {
  test("per minute stays a rate limit even if the vendor calls it a quota", async () => {
    vendors.a.perform((call) =>
      call.respond(429, [
        {
          error: {
            code: 429,
            message:
              "You exceeded your current quota, please check your plan and billing details. Please retry in 17s.",
            status: "RESOURCE_EXHAUSTED",
          },
        },
      ]),
    );
    const messages = [{ role: "user", content: PROMPT }];
    const response = await postChat(vendors.gateway, { model: "acme/alone", messages });
    expect(response.status).toBe(429);
    const body = (await response.json()) as ErrorBody;
    expect(body.error.metadata).toMatchObject({ limit_source: "upstream", raw: "Please retry in 17s." });
    expect(response.headers.get("retry-after")).toBe("17");
  });

  test("of tokens per minute with status 413 becomes a 429 without the vendor's account id", async () => {
    const { response, body } = await ask({
      vendor: "Groq",
      status: 413,
      message:
        "Request too large for model in organization org_01hsjxygceejnvjd05 on tokens per minute (TPM): Limit 10000, Requested 21247. Need more tokens? Upgrade to Dev Tier today at https://console.example/settings/billing",
      code: "rate_limit_exceeded",
    });
    expect(response.status).toBe(429);
    expect(body.error.metadata["raw"]).toBe(
      "Request too large for model in organization [redacted] on tokens per minute (TPM): Limit 10000, Requested 21247. Need more tokens?",
    );
  });
});

describe("a request that the vendor rejects", () => {
  for (const [words, rewritten] of [
    ["Rate limit of tools is 128.", "request limit of tools is 128."],
    ["The field is wrong. Please try again later.", "The field is wrong. change the request."],
    ["The model is overloaded with tools.", "The model is busy with tools."],
  ]) {
    test(`is reported without words that make agents retry: ${words}`, async () => {
      const { response, body } = await ask({ vendor: "any", message: words as string });
      expect(response.status).toBe(400);
      expect(body.error.message).toBe(rewritten as string);
    });
  }

  for (const status of [413, 422]) {
    test(`with ${status} becomes a 400`, async () => {
      const { response, body } = await ask({ vendor: "any", status, message: "The image is too large." });
      expect(response.status).toBe(400);
      expect(body.error.type).toBe("invalid_request");
      expect(body.error.metadata).toMatchObject({ upstream_status: status });
    });
  }
});

describe("a prompt that the vendor's content filter rejects", () => {
  test("is the client's error even with status 403, and does not reveal the operator's account", async () => {
    vendors.a.perform((call) =>
      call.respond(403, {
        code: "The caller does not have permission to execute the specified operation",
        error:
          "Content violates usage guidelines. Team: 0f1e2d3c-4455, API key ID: 99aabbcc-1122, Model: up, Failed check: SAFETY_CHECK_TYPE_BIO",
      }),
    );
    const messages = [{ role: "user", content: PROMPT }];
    const response = await postChat(vendors.gateway, { model: "acme/both", messages });
    const { error } = (await response.json()) as ErrorBody;
    expect([response.status, error.type, vendors.b.calls.length]).toEqual([400, "invalid_request", 0]);
    expect(error.message).toBe(
      "Content violates usage guidelines. Team: [redacted], API key ID: [redacted], Model: up, Failed check: SAFETY_CHECK_TYPE_BIO",
    );
    expect(error.metadata).toMatchObject({ upstream_status: 403, reason: "content_filter" });
  });
});

describe("a platform key that the vendor rejects with 400", () => {
  test("is not the client's error, and another provider answers", async () => {
    vendors.a.perform((call) =>
      call.respond(400, {
        code: "Client specified an invalid argument",
        error: "Incorrect API key provided: xa***Ju. You can obtain an API key from https://console.x.ai.",
      }),
    );
    const messages = [{ role: "user", content: PROMPT }];
    const response = await postChat(vendors.gateway, { model: "acme/both", messages });
    expect([response.status, response.headers.get("x-gateway-provider")]).toEqual([200, "vendor-b"]);
  });
});

describe("a date in Retry-After of a 429", () => {
  const inSeconds = (seconds: number) => new Date(vendors.clock.now() + 1_000 * seconds).toUTCString();

  // Dates have whole seconds.
  test.each([
    ["in ninety seconds is a wait of as many", 90, 90],
    ["in an hour and a half is a wait of an hour, which is the most", 5_400, 3_600],
    ["in some years is a wait of an hour", 100_000_000, 3_600],
    ["that has passed is a wait of one second", -90, 1],
  ])("%s", async (_, seconds, expected) => {
    vendors.clock.leap(1_000 - (vendors.clock.now() % 1_000));
    const headers = { "retry-after": inSeconds(seconds) };
    vendors.a.perform((call) => call.respond(429, { error: { message: "slow down" } }, headers));
    const messages = [{ role: "user", content: PROMPT }];
    const response = await postChat(vendors.gateway, { model: "acme/alone", messages });
    await response.text();
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, String(expected)]);
  });
});

describe("a vendor that has not what a request needs of the model", () => {
  const messages = [{ role: "user", content: PROMPT }];
  const LACKING = [
    "This response_format type is unavailable now",
    "The model only supports response formats: [json text].",
    "Json mode is not supported for this model.",
    "Tool calling is not supported for model: acme/up",
    "acme/up does not support tools",
    "Unsupported content part type for text-only server: image_url",
  ];

  test.each(LACKING)("is followed by another one, and its health stays: %s", async (message) => {
    vendors.a.perform((call) => call.respond(400, { error: { message } }));
    const response = await postChat(vendors.gateway, { model: "acme/both", messages });
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("Beta")]);
    vendors.a.perform(healthy("Alpha"));
    const next = await postChat(vendors.gateway, { model: "acme/both", messages });
    expect(await next.text()).toContain("Alpha");
  });

  test("gives the client its error if no other one has it", async () => {
    const [message] = LACKING;
    const { response, body } = await ask({ vendor: "DeepSeek", message: message as string });
    expect([response.status, body.error.message]).toEqual([400, message as string]);
    expect(vendors.a.calls).toHaveLength(1);
  });

  test("is the only one that gets a request with another fault", async () => {
    vendors.a.perform((call) => call.respond(400, { error: { message: "tools[0].name is too long" } }));
    const response = await postChat(vendors.gateway, { model: "acme/both", messages });
    expect(response.status).toBe(400);
    expect(vendors.b.calls).toHaveLength(0);
  });
});
