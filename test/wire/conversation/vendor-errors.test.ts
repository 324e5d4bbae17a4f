import { describe, expect, test } from "bun:test";
import {
  findVendorError,
  readBareStatus,
  readVendorError,
  type VendorError,
} from "../../../src/wire/conversation/errors/vendor-error.ts";

interface Said {
  readonly vendor: string;
  readonly status: number;
  readonly body: unknown;
  /** `x-amzn-errortype`. */
  readonly errorType?: string;
  /** The fields of the parsed error that differ from the defaults. */
  readonly read: Partial<VendorError> & Pick<VendorError, "meaning">;
}

const openai = (message: string, type: string | null, code: string | number | null, more = {}) => ({
  error: { message, type, param: null, code, ...more },
});
const anthropic = (type: string, message: string) => ({ type: "error", error: { type, message } });
const google = (code: number, status: string, message: string, details: readonly unknown[] = []) => ({
  error: { code, message, status, details },
});

const POLICY =
  "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.";

/**
 * Real errors of vendors; names of organizations, teams and keys are changed. The comment above each is its source: a public report,
 * or the documentation where there is none.
 */
const SAID: readonly Said[] = [
  // github.com/simonw/llm/issues/494
  {
    vendor: "OpenAI about an empty balance",
    status: 429,
    body: openai(
      "You exceeded your current quota, please check your plan and billing details.",
      "insufficient_quota",
      "insufficient_quota",
    ),
    read: { meaning: "out_of_credit" },
  },
  // github.com/openai/openai-dotnet/issues/404
  {
    vendor: "OpenAI about a rate limit of many hours",
    status: 429,
    body: openai(
      "Rate limit reached for gpt-4o-mini in organization org-x on tokens per min (TPM): Limit 100000, Used 96749, Requested 19126. Please try again in 114h18m0s.",
      "tokens",
      "rate_limit_exceeded",
    ),
    read: { meaning: "rate_limited", retryAfterS: 114 * 3600 + 18 * 60 },
  },
  // github.com/BeehiveInnovations/pal-mcp-server/issues/178
  {
    vendor: "OpenAI about a prompt",
    status: 400,
    body: openai(
      "Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt: https://platform.openai.com/docs/guides/reasoning#advice-on-prompting",
      "invalid_request_error",
      "invalid_prompt",
    ),
    read: { meaning: "content_filter" },
  },
  // github.com/ikechan8370/chatgpt-plugin/issues/125
  {
    vendor: "OpenAI about overload",
    status: 503,
    body: openai("That model is currently overloaded with other requests.", "server_error", null),
    read: { meaning: "overloaded" },
  },
  // github.com/tontinton/maki/issues/777 (the status), github.com/Wei-Shaw/sub2api/issues/6631 (the body)
  {
    vendor: "OpenAI about overload, with 400",
    status: 400,
    body: openai(
      "Our servers are currently overloaded. Please try again later.",
      "service_unavailable_error",
      "server_is_overloaded",
    ),
    read: { meaning: "overloaded" },
  },
  // github.com/dKosarevsky/AI-Talks/issues/32
  {
    vendor: "OpenAI about a key",
    status: 401,
    body: openai(
      "Incorrect API key provided: sk-WRQsP***xQBt. You can find your API key at https://platform.openai.com/account/api-keys.",
      "invalid_request_error",
      "invalid_api_key",
    ),
    read: { meaning: "key_refused" },
  },
  // github.com/UniversityOfHelsinkiCS/gptwrapper/issues/285
  {
    vendor: "Azure about a prompt",
    status: 400,
    body: openai(POLICY, null, "content_filter", {
      status: 400,
      innererror: {
        code: "ResponsibleAIPolicyViolation",
        content_filter_result: { violence: { filtered: true, severity: "high" } },
      },
    }),
    read: { meaning: "content_filter" },
  },
  // github.com/microsoft/sample-app-aoai-chatGPT/issues/131
  {
    vendor: "Azure about a rate limit",
    status: 429,
    body: {
      error: {
        code: "429",
        message:
          "Requests to the Creates a completion for the chat message Operation under Azure OpenAI API version 2023-03-15-preview have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 7 seconds.",
      },
    },
    read: { meaning: "rate_limited", retryAfterS: 7 },
  },
  // github.com/microsoft/copilot-camp/issues/551
  {
    vendor: "Azure about a rate limit, in short",
    status: 429,
    body: { error: { code: "429", message: "Rate limit is exceeded. Try again in 2 seconds." } },
    read: { meaning: "rate_limited", retryAfterS: 2 },
  },
  // github.com/SciSharp/BotSharp/issues/386
  {
    vendor: "Azure about a key",
    status: 401,
    body: {
      error: {
        code: "401",
        message:
          "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource.",
      },
    },
    read: { meaning: "key_refused" },
  },
  // github.com/anthropics/claude-code/issues/58367
  {
    vendor: "Anthropic about an answer",
    status: 400,
    body: anthropic("invalid_request_error", "Output blocked by content filtering policy"),
    read: { meaning: "content_filter" },
  },
  // github.com/anthropics/claude-code/issues/55789
  {
    vendor: "Anthropic about a rate limit",
    status: 429,
    body: anthropic(
      "rate_limit_error",
      "This request would exceed your account's rate limit. Please try again later.",
    ),
    read: { meaning: "rate_limited" },
  },
  // github.com/anthropics/anthropic-sdk-typescript/issues/616
  {
    vendor: "Anthropic about overload",
    status: 529,
    body: anthropic("overloaded_error", "Overloaded"),
    read: { meaning: "overloaded" },
  },
  // github.com/aws-samples/assessment-generator/issues/2
  {
    vendor: "Bedrock about a long prompt",
    status: 400,
    errorType: "ValidationException:http://internal.amazon.com/coral/com.amazon.bedrock/",
    body: { message: "Input is too long for requested model." },
    read: { meaning: "context_overflow" },
  },
  // github.com/RooCodeInc/Roo-Code/issues/248: the answer is limited, not the prompt
  {
    vendor: "Bedrock about max_tokens",
    status: 400,
    errorType: "ValidationException",
    body: { message: "The maximum tokens you requested exceed the model limit of 4096." },
    read: { meaning: "bad_request" },
  },
  // github.com/hyunhwan-bcm/MARRVEL_MCP/issues/225
  {
    vendor: "Bedrock about a rate limit",
    status: 429,
    errorType: "ThrottlingException",
    body: { message: "Too many tokens, please wait before trying again." },
    read: { meaning: "rate_limited" },
  },
  // docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html: this exception has status 400
  {
    vendor: "Bedrock about the account's quota",
    status: 400,
    body: { __type: "ServiceQuotaExceededException", message: "Your request exceeds the service quota." },
    read: { meaning: "rate_limited" },
  },
  // github.com/Aider-AI/aider/issues/1986
  {
    vendor: "Bedrock about a key",
    status: 403,
    errorType: "UnrecognizedClientException",
    body: { message: "The security token included in the request is invalid." },
    read: { meaning: "key_refused" },
  },
  // github.com/google-gemini/gemini-cli/issues/6678
  {
    vendor: "Gemini about a long prompt, in a list",
    status: 400,
    body: [
      google(
        400,
        "INVALID_ARGUMENT",
        "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
      ),
    ],
    read: { meaning: "context_overflow", contextLimit: 1_048_576, contextRequested: 1_200_293 },
  },
  // github.com/arkavo-org/arkavo-edge/issues/371
  {
    vendor: "Gemini about a long prompt, without its size",
    status: 400,
    body: google(
      400,
      "INVALID_ARGUMENT",
      "The input token count exceeds the maximum number of tokens allowed (1048576).",
    ),
    read: { meaning: "context_overflow", contextLimit: 1_048_576 },
  },
  // github.com/google-gemini/gemini-cli/issues/19727
  {
    vendor: "Vertex about a long prompt",
    status: 400,
    body: google(
      400,
      "INVALID_ARGUMENT",
      "Unable to submit request because the input token count is 1251952 but model only supports up to 1048576. Reduce the input token count and try again.",
    ),
    read: { meaning: "context_overflow", contextLimit: 1_048_576, contextRequested: 1_251_952 },
  },
  // github.com/cequence-io/openai-scala-client/issues/109
  {
    vendor: "Gemini about a key",
    status: 400,
    body: google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [
      {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: "API_KEY_INVALID",
        domain: "googleapis.com",
      },
    ]),
    read: { meaning: "key_refused" },
  },
  // github.com/continuedev/continue/issues/10560
  {
    vendor: "Gemini about a rate limit",
    status: 429,
    body: google(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
    read: { meaning: "rate_limited" },
  },
  // github.com/google-gemini/gemini-cli/issues/6454
  {
    vendor: "Vertex about a rate limit",
    status: 429,
    body: [
      google(
        429,
        "RESOURCE_EXHAUSTED",
        "Resource exhausted. Please try again later. Please refer to https://cloud.google.com/vertex-ai/generative-ai/docs/error-code-429 for more details.",
      ),
    ],
    read: { meaning: "rate_limited" },
  },
  // github.com/raycast/extensions/issues/31107
  {
    vendor: "Mistral about a rate limit",
    status: 429,
    body: {
      object: "error",
      message: "Rate limit exceeded",
      type: "rate_limited",
      param: null,
      code: "1300",
      raw_status_code: 429,
    },
    read: { meaning: "rate_limited" },
  },
  // github.com/continuedev/continue/issues/6185
  {
    vendor: "Mistral about a full tier",
    status: 429,
    body: {
      object: "error",
      message: "Service tier capacity exceeded for this model.",
      type: "invalid_request_error",
      param: null,
      code: null,
    },
    read: { meaning: "rate_limited" },
  },
  // github.com/agent0ai/agent-zero/issues/539
  {
    vendor: "Mistral about a key",
    status: 401,
    body: { detail: "Unauthorized" },
    read: { meaning: "key_refused" },
  },
  // github.com/cohere-ai/sandbox-topically/issues/4
  {
    vendor: "Cohere about a long prompt",
    status: 400,
    body: {
      message:
        "too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 - received 6354. Try using a shorter prompt or a smaller max_tokens value.",
    },
    read: { meaning: "context_overflow", contextLimit: 2048, contextRequested: 6354 },
  },
  // github.com/cohere-ai/cohere-toolkit/issues/857
  {
    vendor: "Cohere about a key",
    status: 401,
    body: { message: "invalid api token" },
    read: { meaning: "key_refused" },
  },
  // github.com/cohere-ai/cohere-developer-experience/pull/189: the status is for unsafe requests
  {
    vendor: "Cohere about a prompt",
    status: 498,
    body: { message: "the request was blocked" },
    read: { meaning: "content_filter" },
  },
  // console.groq.com/docs/flex-processing: the same status for a tier that is full; code as documented
  {
    vendor: "Groq about a full tier",
    status: 498,
    body: openai("Flex tier capacity exceeded.", null, "capacity_exceeded"),
    read: { meaning: "overloaded" },
  },
  // github.com/UKGovernmentBEIS/inspect_ai/pull/2267
  {
    vendor: "xAI about a prompt",
    status: 403,
    body: {
      code: "The caller does not have permission to execute the specified operation",
      error:
        "Content violates usage guidelines. Team: x, API key ID: y, Model: grok-4-0709, Failed check: SAFETY_CHECK_TYPE_BIO",
    },
    read: { meaning: "content_filter" },
  },
  // github.com/yaroslavyaroslav/OpenAI-sublime-text/issues/93
  {
    vendor: "xAI about a key",
    status: 400,
    body: {
      code: "Client specified an invalid argument",
      error: "Incorrect API key provided: xa***Ju. You can obtain an API key from https://console.x.ai.",
    },
    read: { meaning: "key_refused" },
  },
  // github.com/i-am-bee/beeai-framework/issues/447
  {
    vendor: "xAI about a key, encoded",
    status: 400,
    body: {
      code: "Client specified an invalid argument",
      error: "Incorrect%20API%20key%20provided:%20ba***na.",
    },
    read: { meaning: "key_refused" },
  },
  // github.com/666ghj/BettaFish/issues/108
  {
    vendor: "DeepSeek about a prompt",
    status: 400,
    body: openai("Content Exists Risk", "invalid_request_error", "invalid_request_error"),
    read: { meaning: "content_filter" },
  },
  // github.com/deepseek-ai/DeepSeek-V2/issues/30
  {
    vendor: "DeepSeek about a prompt, earlier",
    status: 400,
    body: { detail: "Content Exists Risk" },
    read: { meaning: "content_filter" },
  },
  // github.com/deepseek-ai/DeepSeek-R1/issues/82
  {
    vendor: "DeepSeek about a key",
    status: 401,
    body: openai("Authentication Fails (no such user)", "authentication_error", "invalid_request_error"),
    read: { meaning: "key_refused" },
  },
  // github.com/continuedev/continue/issues/10920
  {
    vendor: "Groq about a rate limit of a day",
    status: 429,
    body: openai(
      "Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_x` service tier `on_demand` on tokens per day (TPD): Limit 100000, Used 97050, Requested 3619. Please try again in 9m38.016s. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing",
      "tokens",
      "rate_limit_exceeded",
    ),
    read: { meaning: "rate_limited", retryAfterS: 9 * 60 + 38.016 },
  },
  // github.com/HunorLaczko/ha-groq-cloud-api/issues/27
  {
    vendor: "Groq about a prompt over the minute's tokens",
    status: 413,
    body: openai(
      "Request too large for model llama-3.1-8b-instant in organization org_x service tier on_demand on tokens per minute (TPM): Limit 6000, Requested 12328, please reduce your message size and try again.",
      "tokens",
      "rate_limit_exceeded",
    ),
    read: { meaning: "rate_limited" },
  },
  // github.com/expectedparrot/edsl/issues/2098
  {
    vendor: "Together about an empty balance",
    status: 402,
    body: {
      id: "x",
      ...openai(
        "Credit limit exceeded. Please navigate to https://api.together.xyz/settings/billing to add credit or upgrade your plan.",
        "credit_limit",
        null,
      ),
    },
    read: { meaning: "out_of_credit" },
  },
  // github.com/togethercomputer/MoA/issues/27
  {
    vendor: "Together about a rate limit",
    status: 429,
    body: openai(
      "You have been rate limited. Your rate limit is 60 queries per minute. Please navigate to https://api.together.xyz/settings/billing to upgrade to a paid plan.",
      "credit_limit",
      null,
    ),
    read: { meaning: "rate_limited" },
  },
  // github.com/GordeyZuev/LEAP/issues/6
  {
    vendor: "Fireworks about a rate limit",
    status: 429,
    body: {
      error: "Too Many Requests",
      message:
        "You have exceeded your usage limits. Please try again later or contact Fireworks to explore dedicated capacity.",
    },
    read: { meaning: "rate_limited" },
  },
  // github.com/nminaya/grammar-nazi-bot/issues/959
  {
    vendor: "Cerebras about a rate limit",
    status: 429,
    body: {
      message: "Requests per minute limit exceeded - too many requests sent.",
      type: "too_many_requests_error",
      param: "quota",
      code: "request_quota_exceeded",
    },
    read: { meaning: "rate_limited" },
  },
  // github.com/sandialabs/atlas-ui-3/issues/111 has the message; the code is from public clients
  {
    vendor: "Cerebras about overload",
    status: 429,
    body: {
      message: "We're experiencing high traffic right now! Please try again soon.",
      type: "too_many_requests_error",
      param: "queue",
      code: "queue_exceeded",
    },
    read: { meaning: "overloaded" },
  },
  // github.com/MoonshotAI/kimi-cli/issues/1002
  {
    vendor: "Moonshot about a prompt",
    status: 400,
    body: {
      error: {
        code: 400,
        message: "The request was rejected because it was considered high risk",
        param: "prompt",
        type: "content_filter",
      },
    },
    read: { meaning: "content_filter" },
  },
  // github.com/MoonshotAI/MoonshotAI-Cookbook/issues/16
  {
    vendor: "Moonshot about overload",
    status: 429,
    body: {
      error: {
        message: "The engine is currently overloaded, please try again later",
        type: "engine_overloaded_error",
      },
    },
    read: { meaning: "overloaded" },
  },
  // github.com/harry0703/MoneyPrinterTurbo/issues/339
  {
    vendor: "Moonshot about a rate limit",
    status: 429,
    body: {
      error: {
        message: "Your account x request reached max request: 3, please try again after 1 seconds",
        type: "rate_limit_reached_error",
      },
    },
    read: { meaning: "rate_limited", retryAfterS: 1 },
  },
  // github.com/zai-org/GLM-5/issues/49
  {
    vendor: "Z.AI about an empty balance",
    status: 429,
    body: {
      error: { code: "1113", message: "Insufficient balance or no resource package. Please recharge." },
    },
    read: { meaning: "out_of_credit" },
  },
  // github.com/langgenius/dify/issues/5850
  {
    vendor: "Z.AI about an empty balance, in Chinese",
    status: 429,
    body: { error: { code: "1113", message: "您的账户已欠费，请充值后重试。" } },
    read: { meaning: "out_of_credit" },
  },
  // github.com/kaitranntt/ccs/issues/402
  {
    vendor: "Z.AI about a rate limit",
    status: 429,
    body: {
      error: {
        code: "1302",
        message:
          "High concurrency usage of this API, please reduce concurrency or contact customer service to increase limits",
      },
    },
    read: { meaning: "rate_limited" },
  },
  // github.com/NousResearch/hermes-agent/issues/89278
  {
    vendor: "Z.AI about overload",
    status: 429,
    body: {
      error: { code: "1305", message: "The service may be temporarily overloaded, please try again later" },
    },
    read: { meaning: "overloaded" },
  },
  // docs.z.ai/api-reference/api-code
  {
    vendor: "Z.AI about a prompt",
    status: 400,
    body: {
      error: {
        code: "1301",
        message: "System detected potentially unsafe or sensitive content in input or generation.",
      },
    },
    read: { meaning: "content_filter" },
  },
  // github.com/CommandCodeAI/command-code/issues/813
  {
    vendor: "DashScope about a prompt",
    status: 400,
    body: openai(
      "<400> InternalError.Algo.DataInspectionFailed: Input text data may contain inappropriate content.",
      "data_inspection_failed",
      "data_inspection_failed",
    ),
    read: { meaning: "content_filter" },
  },
  // github.com/tencentmusic/supersonic/issues/1572
  {
    vendor: "DashScope about an empty balance",
    status: 400,
    body: {
      code: "Arrearage",
      message: "Access denied, please make sure your account is in good standing.",
    },
    read: { meaning: "out_of_credit" },
  },
  // The status is documented for an empty balance; the message has no public source.
  {
    vendor: "Perplexity about an empty balance",
    status: 401,
    body: openai(
      "You exceeded your current quota, please check your plan and billing details.",
      "insufficient_quota",
      401,
    ),
    read: { meaning: "out_of_credit" },
  },
];

const UNKNOWN = {
  contextLimit: null,
  contextRequested: null,
  refusedFields: [],
  lacksFeature: false,
  retryAfterS: null,
};

describe("an error of", () => {
  for (const { vendor, status, body, errorType, read } of SAID) {
    test(`${vendor} means ${read.meaning}`, () => {
      const error = readVendorError(status, body, errorType);
      const { code, failedGeneration, overflow, ...known } = error;
      expect(known).toEqual({
        ...UNKNOWN,
        ...read,
        status,
        message: error.message,
      } as unknown as typeof known);
      expect(failedGeneration).toBeNull();
      expect(overflow !== null).toBe(read.meaning === "context_overflow");
      // Numeric codes are statuses.
      if (code !== null) expect(JSON.stringify(body)).toContain(`"${code}"`);
      expect(JSON.stringify(body)).toContain(JSON.stringify(error.message).slice(1, -1));
    });
  }

  test("Gemini has the time to wait in a detail", () => {
    const details = [
      { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId: "PerMinute" }] },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.4s" },
    ];
    const body = { error: { code: 429, message: "Quota.", status: "RESOURCE_EXHAUSTED", details } };
    expect(readVendorError(429, body)).toMatchObject({ meaning: "rate_limited", retryAfterS: 34.4 });
  });
});

describe("an error in a stream with status 200", () => {
  test.each([
    [
      "Bedrock's rate limit",
      { __type: "throttlingException", message: "Too many requests" },
      429,
      "rate_limited",
    ],
    [
      "Bedrock's invalid request",
      { __type: "validationException", message: "Malformed" },
      400,
      "bad_request",
    ],
    [
      "Bedrock's unavailability",
      { __type: "serviceUnavailableException", message: "Later" },
      503,
      "overloaded",
    ],
    ["Bedrock's rejection of a key", { __type: "accessDeniedException", message: "No" }, 403, "key_refused"],
    ["Bedrock's internal error", { __type: "internalServerException", message: "Oops" }, 500, "failed"],
    [
      "Anthropic's content filter",
      anthropic("invalid_request_error", "Output blocked by content filtering policy"),
      400,
      "content_filter",
    ],
    ["Anthropic's overload", anthropic("overloaded_error", "Overloaded"), 503, "overloaded"],
    // github.com/Wei-Shaw/sub2api/issues/6631
    [
      "OpenAI's overload",
      {
        type: "error",
        sequence_number: 2,
        ...openai(
          "Our servers are currently overloaded.",
          "service_unavailable_error",
          "server_is_overloaded",
        ),
      },
      503,
      "overloaded",
    ],
  ] as const)("of the kind %s means the same as with its HTTP status", (_name, body, status, meaning) => {
    expect(readVendorError(200, body)).toMatchObject({ status, meaning });
  });

  test("is absent from an answer", () => {
    expect(findVendorError({ choices: [], error: null })).toBeNull();
  });
});

describe("the message of an error", () => {
  test.each<[string, unknown, string]>([
    ["the error, before one next to it", { error: { message: "Inner." }, message: "Outer." }, "Inner."],
    ["the body, if the error has none", { error: { code: "a" }, message: "Outer." }, "Outer."],
    ["the body, before an error that is a text", { error: "Bad Request", message: "Outer." }, "Outer."],
    ["an error that is a text", { error: "No such model." }, "No such model."],
    ["AWS's field", { error: { code: "a" }, Message: "Signed wrongly." }, "Signed wrongly."],
    ["a detail next to the error", { error: { code: "a" }, detail: "Not found." }, "Not found."],
    ["a detail with a place", { detail: [{ loc: ["body", "top_p"], msg: "too high" }] }, "top_p: too high"],
    ["a detail with a message", { detail: { message: "Too long." } }, "Too long."],
    ["no field at all", { error: { code: "a" } }, "the upstream gave no reason"],
  ])("is that of %s", (_where, body, message) => {
    expect(readVendorError(400, body).message).toBe(message);
  });
});

describe("the time to wait", () => {
  test.each([
    ["Please try again in 350ms.", 0.35],
    ["Please try again in 4.77s. Need more tokens?", 4.77],
    ["Please try again in 6m0s.", 360],
    ["Please try again in 1h2m3.5s.", 3723.5],
    ["Please retry in 17s.", 17],
    ["Please retry after 86400 seconds.", 86_400],
    ["please try again after 1 seconds", 1],
    ["Please try again in 20 minutes.", null],
    ["Please try again later.", null],
    ["Please try again in a while.", null],
  ])("is read from the message %s", (message, seconds) => {
    expect(readVendorError(429, { error: { message } }).retryAfterS).toBe(seconds);
  });

  test("is not read from errors that persist", () => {
    expect(readVendorError(400, { error: { message: "Bad. Try again in 5s." } }).retryAfterS).toBeNull();
    expect(readBareStatus(429).retryAfterS).toBeNull();
  });
});

describe("a quotation of the request in an error message", () => {
  test.each([
    'Invalid value: "Content violates usage guidelines".',
    "Invalid value: 'Content Exists Risk'.",
    "Invalid value: `incorrect api key provided`.",
  ])("is not interpreted: %s", (message) => {
    expect(readVendorError(400, { error: { message, type: "invalid_request_error" } }).meaning).toBe(
      "bad_request",
    );
  });
});
