import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../../src/base/failures/errors.ts";
import { ServedDeployment } from "../../src/core/deployments/served-deployment.ts";
import {
  type EncodeContext,
  encodeForCandidate,
} from "../../src/core/generation/attempt/encode-for-candidate.ts";
import { NO_TURNS } from "../../src/core/generation/attempt/request-turns.ts";
import { Cancellation } from "../../src/core/generation/call/cancellation.ts";
import type { Candidate } from "../../src/core/routing/plan/plan.ts";
import { parseChatRequest } from "../../src/wire/client-apis/chat-request.ts";
import { parseMessagesRequest } from "../../src/wire/client-apis/messages-request.ts";
import { encodeHere } from "../../src/wire/client-apis/request/choose-target.ts";
import type { InferenceRequest } from "../../src/wire/client-apis/request/inference-request.ts";
import { parseResponsesRequest } from "../../src/wire/client-apis/responses-request.ts";
import { createTestClock } from "../support/test-clock.ts";

const FORMATS = [
  ["openai-chat"],
  ["anthropic-messages"],
  ["openai-chat", "openai-responses"],
  ["openai-responses", "openai-chat"],
  ["anthropic-messages", "openai-chat"],
  ["openai-chat", "anthropic-messages", "openai-responses"],
] as const;

const QUIRKS = [
  {},
  { refusedFields: ["seed", "reasoning"] },
  { knownFields: ["model", "messages", "max_tokens"] },
  { customTools: true, takesReasoningDetails: true },
  { maxCompletionTokens: true, noStreamOptions: true },
];

/** The formats that a key has an endpoint for. */
const REACHED = [null, "openai-chat", "openai-responses"] as const;

const CALLED = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "call_1", type: "function", function: { name: "f", arguments: "{}" } }],
};
const TURNS = [
  { role: "user", content: "Hi" },
  { role: "assistant", content: "Hello", reasoning_details: [{ type: "reasoning.encrypted", data: "x" }] },
  CALLED,
  { role: "tool", tool_call_id: "call_1", content: "ok" },
];
const TOOLS = [
  { type: "function", function: { name: "f" } },
  { type: "custom", custom: { name: "c" } },
];

const chat = fc
  .record({
    messages: fc.subarray(TURNS, { minLength: 1 }),
    extra: fc.record(
      {
        seed: fc.constant(1),
        user: fc.constant("u"),
        reasoning: fc.constantFrom({ effort: "high" }, { enabled: false }),
        reasoning_effort: fc.constantFrom("low", "none"),
        tools: fc.subarray(TOOLS, { minLength: 1 }),
        max_tokens: fc.constant(5),
        logit_bias: fc.constant({ 1: 1 }),
        session_id: fc.constant("s"),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ messages, extra }) => ({ parse: parseChatRequest, body: { model: "m", messages, ...extra } }));

const others = fc.constantFrom(
  {
    parse: parseMessagesRequest,
    body: {
      model: "m",
      max_tokens: 9,
      messages: [{ role: "user", content: "Hi" }],
      thinking: { type: "adaptive" },
    },
  },
  { parse: parseResponsesRequest, body: { model: "m", input: "Hi", store: false } },
);

const circumstances = fc.record({
  formats: fc.constantFrom(...FORMATS),
  quirks: fc.constantFrom(...QUIRKS),
  reached: fc.constantFrom(...REACHED),
  withReasoning: fc.boolean(),
  maxTokens: fc.constantFrom(null, 7),
  overrides: fc.constantFrom(undefined, { reasoning: { effort: "low" } }),
  stream: fc.boolean(),
});

type Circumstances = typeof circumstances extends fc.Arbitrary<infer One> ? One : never;

function candidateOf({ formats, quirks, reached, overrides }: Circumstances): Candidate {
  const [format, ...further] = formats;
  const record = {
    slug: "host",
    format,
    quirks,
    formats: Object.fromEntries(further.map((name) => [name, {}])),
    toolCallIds: "openai",
    affinityHeader: "x-session",
  };
  const model = {
    ...{ id: "a/m", inputModalities: ["text"], outputModalities: ["text"] },
    supportedParameters: ["reasoning", "temperature"],
  };
  const url = new URL("http://host.test");
  const address = {
    urlFor: (call: { readonly format: string }) => (reached === null || call.format === reached ? url : null),
  };
  const parts = {
    provider: { record, formats, families: [] },
    model,
    endpoint: { name: "upstream-model", maxOutputTokens: 1_000 },
    key: { address },
    overrides,
  };
  const candidate = parts as unknown as Candidate;
  return {
    ...candidate,
    served: new ServedDeployment(candidate.model, candidate.endpoint, candidate.provider),
  };
}

/** Encodes a request, and returns what is sent, or the failure. What reads the answer is not compared. */
async function encode(request: InferenceRequest, made: Circumstances): Promise<unknown> {
  const { withReasoning, maxTokens } = made;
  const context = {
    ...{ turns: NO_TURNS, formats: null, refused: null, withReasoning, maxTokens },
    deps: {
      accounts: { hashIdentity: (...parts: readonly string[]) => parts.join("/") },
      requestEncoder: null,
    },
    call: { request, principal: { kind: "anonymous", addressHash: "address" } },
    candidate: candidateOf(made),
    cancellation: new Cancellation(createTestClock(), 1_000),
  };
  try {
    const encoded = await encodeForCandidate(context as unknown as EncodeContext);
    if (encoded === null) return null;
    const { body, answers: _, ...rest } = encoded;
    return { ...rest, body: body.toString() };
  } catch (error) {
    if (error instanceof GatewayError) return error.failure;
    throw error;
  }
}

describe("the encoding of a request for a candidate", () => {
  test("is the one of the best of its formats, also where the client's bytes are forwarded without asking for the others", async () => {
    let forwarded = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.oneof({ weight: 4, arbitrary: chat }, others),
        circumstances,
        async (sent, made) => {
          // A key reaches at least one format of its deployments.
          fc.pre(made.reached === null || (made.formats as readonly string[]).includes(made.reached));
          const read = () =>
            sent.parse(Buffer.from(JSON.stringify({ ...sent.body, stream: made.stream })), (id) => id);
          const request = read();
          const { encoding } = read();
          const asksAll: InferenceRequest = { ...request, encoding: encodeHere(encoding) };
          const found = await encode(request, made);
          expect(found).toEqual(await encode(asksAll, made));
          const isOwn = (found as { format?: string }).format === request.format;
          if (isOwn && made.withReasoning && made.overrides === undefined) forwarded += 1;
        },
      ),
      { numRuns: 500 },
    );
    expect(forwarded).toBeGreaterThan(20);
  });
});
