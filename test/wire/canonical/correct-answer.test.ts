import { expect, test } from "bun:test";
import fc from "fast-check";
import type { CalledTurn } from "../../../src/wire/canonical/answer/called-turn.ts";
import type { AnswerFilter } from "../../../src/wire/canonical/answer/filter-answer.ts";
import type { RelayIdentity } from "../../../src/wire/canonical/answer/relay.ts";
import { createWholeTranslation } from "../../../src/wire/canonical/answer/translate-relay.ts";
import type { Answer, FinishReason } from "../../../src/wire/canonical/model/answer.ts";
import type { Citation, Part } from "../../../src/wire/canonical/model/parts.ts";
import { EMPTY_REQUEST } from "../../../src/wire/canonical/model/request.ts";
import { NO_TOKENS } from "../../../src/wire/conversation/usage.ts";

const text = fc.constantFrom("", "a", "{}", "ü€");
const extras = fc.record(
  { extras: fc.constant({ format: "openai-chat" as const, fields: { x: 1 } }) },
  { requiredKeys: [] },
);
const signature = fc.record(
  { signature: fc.record({ value: text, origin: fc.constant("o") }) },
  { requiredKeys: [] },
);
const citation: fc.Arbitrary<Citation> = fc.record({
  url: fc.constantFrom("https://a", null),
  title: fc.constant(null),
  text: fc.constant(null),
  start: fc.constant(null),
  end: fc.constant(null),
});
const merged = (...parts: fc.Arbitrary<object>[]) =>
  fc.tuple(...parts).map((all) => Object.assign({}, ...all)) as fc.Arbitrary<Part>;

const anyPart: fc.Arbitrary<Part> = fc.oneof(
  merged(
    fc.record({ kind: fc.constant("text"), text }),
    fc.record({ citations: fc.array(citation, { maxLength: 2 }) }, { requiredKeys: [] }),
    signature,
    extras,
  ),
  merged(fc.record({ kind: fc.constant("refusal"), text }), extras),
  merged(
    fc.record({
      kind: fc.constant("reasoning"),
      text,
      isSummary: fc.boolean(),
      signature: fc.option(text),
      encrypted: fc.option(text),
      id: fc.constant(null),
      origin: fc.constant(null),
    }),
    extras,
  ),
  merged(
    fc.record({
      kind: fc.constant("tool-call"),
      id: fc.constantFrom("", "sent", "c2", "c3"),
      name: fc.constantFrom("f", "g"),
      tool: fc.constantFrom("function", "custom"),
      arguments: text,
    }),
    signature,
    extras,
  ),
  fc.record({
    kind: fc.constant("native" as const),
    format: fc.constant("anthropic-messages" as const),
    type: fc.constantFrom("server_tool_use", "web_search_call"),
    value: fc.constantFrom({ name: "web_search" }, {}),
  }),
);
const REASONS: FinishReason[] = ["stop", "stop-sequence", "length", "tool-calls", "refusal", "pause"];
const anyAnswer: fc.Arbitrary<Answer> = fc
  .record({
    choices: fc.array(
      fc.record({
        index: fc.nat(2),
        parts: fc.array(anyPart, { maxLength: 4 }),
        finish: fc.record({
          reason: fc.constantFrom(...REASONS),
          native: text,
          stopSequence: fc.constant(null),
        }),
        logprobs: fc.constantFrom(null, {}, { content: [1], refusal: null }, "x"),
      }),
      { maxLength: 3 },
    ),
    usage: fc.constantFrom(null, NO_TOKENS),
    serviceTier: fc.constantFrom(null, "default"),
  })
  .chain((answer) => extras.map((kept) => ({ ...answer, ...kept })));

/** It is not applied, so that the answer stays as it is; only that there is one makes the answer go the way of a stream. */
const FILTER = {} as AnswerFilter;

/** Translates an answer; returns all that is seen of it. */
function translate(answer: Answer, filter: AnswerFilter | null) {
  const turns: CalledTurn[] = [];
  let made = 0;
  const identity: RelayIdentity = {
    id: "gen",
    model: "acme/model",
    created: 1,
    originalIds: new Map([["sent", "client"]]),
    makeCallId: () => `made_${made++}`,
    onTurn: (turn) => void turns.push(turn),
    filter,
  };
  // The answer itself is printed, so that a difference in any part of it shows.
  const codec = { encodeAnswer: (corrected: Answer) => ({ corrected }) };
  const asked = {
    request: { ...EMPTY_REQUEST, messages: [] },
    wantsUsageChunk: false,
    estimatedPromptTokens: 0,
  };
  const whole = createWholeTranslation({ kind: "answer", answer }, { codec, identity, asked });
  if (whole.kind === "error") return { whole, turns };
  const { encode, applyFilter: _, ...seen } = whole;
  const report = {
    usage: NO_TOKENS,
    cost: 0,
    upstreamInferenceCost: 0,
    upstreamPromptCost: 0,
    upstreamCompletionCost: 0,
    isByok: false,
  };
  return { seen, turns, printed: JSON.parse(encode({ report, metadata: null })) };
}

test("a whole answer is corrected as its events in a stream are", () => {
  fc.assert(
    fc.property(anyAnswer, (answer) => {
      expect(translate(answer, null)).toEqual(translate(answer, FILTER));
    }),
    { numRuns: 3_000 },
  );
});
