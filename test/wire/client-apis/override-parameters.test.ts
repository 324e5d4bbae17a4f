import { describe, expect, test } from "bun:test";
import type { ModelTarget } from "../../../src/wire/canonical/model/format.ts";
import { parseChatRequest } from "../../../src/wire/client-apis/chat-request.ts";
import type {
  ParameterOverrides,
  UpstreamTarget,
} from "../../../src/wire/client-apis/request/inference-request.ts";
import type { FormatName } from "../../../src/wire/conversation/traits/format-name.ts";
import { FORMAT_NAMES } from "../../../src/wire/conversation/traits/format-name.ts";
import { toolCallRulesOf } from "../../../src/wire/formats/traits.ts";
import { OPENAI_TRAITS } from "../../../src/wire/openai-chat/fit-messages.ts";

const REASONING = {
  efforts: { efforts: ["low", "medium", "high"] },
  optional: { efforts: ["none", "low", "medium", "high"] },
  budget: { budgetTokens: { min: 1_024 } },
} as const;

function targetOf(
  format: FormatName,
  overrides: ParameterOverrides | null,
  reasoning: ModelTarget["reasoning"],
  name = "up",
): UpstreamTarget {
  return {
    provider: {
      format,
      model: { name, maxOutputTokens: 64_000, reasoning },
      toolCalls: toolCallRulesOf(format, "openai"),
      noStreamOptions: false,
      renames: [],
      knownFields: null,
      knownMessageFields: new Set(),
      takesThinkingParts: false,
      takesCustomTools: true,
      refusedFields: new Set(),
      traits: OPENAI_TRAITS,
      bodyFields: {},
    },
    withReasoning: true,
    overrides: overrides,
    recallTurn: () => null,
    hashUser: (user) => user,
  };
}

const ASKED = { model: "acme/m", messages: [{ role: "user", content: "Hello!" }] };
const CLIENT_PARAMETERS = {
  reasoning: { effort: "high", exclude: true },
  reasoning_effort: "high",
  verbosity: "high",
};

function encode(target: UpstreamTarget, more: Record<string, unknown> = {}) {
  const request = parseChatRequest(Buffer.from(JSON.stringify({ ...ASKED, ...more })), (id) => id);
  const { body, warnings } = request.encoding.encode(target);
  return { body: JSON.parse(body.toString("utf8")) as Record<string, unknown>, warnings };
}

const LOW: ParameterOverrides = { reasoning: { effort: "low" }, verbosity: "low" };
const WITHOUT_VERBOSITY: ParameterOverrides = {
  reasoning: { effort: "low" },
  verbosity: { unsupported: "low" },
};
const NOT_SENT = {
  field: "verbosity",
  message: "The tier's verbosity \"low\" was not sent: this model's provider has no such parameter.",
};
const ON: ParameterOverrides = { reasoning: { effort: null } };

describe("a tier's parameter overrides", () => {
  test.each<[string, UpstreamTarget, Record<string, unknown>]>([
    [
      "OpenAI chat",
      targetOf("openai-chat", LOW, REASONING.efforts),
      { reasoning_effort: "low", verbosity: "low" },
    ],
    ["OpenAI chat, on", targetOf("openai-chat", ON, REASONING.optional), { reasoning_effort: "medium" }],
    [
      "Responses",
      targetOf("openai-responses", LOW, REASONING.efforts),
      { reasoning: { effort: "low" }, text: { verbosity: "low" } },
    ],
    [
      "Anthropic with efforts",
      targetOf("anthropic-messages", WITHOUT_VERBOSITY, REASONING.efforts),
      { thinking: { type: "adaptive" }, output_config: { effort: "low" } },
    ],
    [
      "Anthropic with budgets",
      targetOf("anthropic-messages", ON, REASONING.budget),
      { thinking: { type: "enabled", budget_tokens: 16_000 }, max_tokens: 32_000 },
    ],
    [
      "Gemini with levels",
      targetOf("gemini", WITHOUT_VERBOSITY, REASONING.efforts),
      { generationConfig: { thinkingConfig: { thinkingLevel: "LOW" } } },
    ],
    [
      "Gemini with budgets",
      targetOf("gemini", WITHOUT_VERBOSITY, { budgetTokens: { min: 0, max: 10_000 } }),
      { generationConfig: { thinkingConfig: { thinkingBudget: 2_000 } } },
    ],
    [
      "Claude at Bedrock",
      targetOf("bedrock-converse", WITHOUT_VERBOSITY, REASONING.efforts, "anthropic.claude-sonnet-5"),
      { additionalModelRequestFields: { thinking: { type: "adaptive" }, output_config: { effort: "low" } } },
    ],
    [
      "Cohere",
      targetOf("cohere-chat", WITHOUT_VERBOSITY, REASONING.budget),
      { thinking: { type: "enabled", token_budget: 2_048 } },
    ],
  ])("are encoded for %s, with a warning about what it cannot express", (_, target, expected) => {
    const { body, warnings } = encode(target, CLIENT_PARAMETERS);
    expect(body).toMatchObject(expected);
    expect(warnings.map(({ field }) => field)).not.toContain("reasoning");
    if (target.overrides === WITHOUT_VERBOSITY) expect(warnings).toContainEqual(NOT_SENT);
    else if (target.overrides === LOW) expect(warnings.map(({ field }) => field)).not.toContain("verbosity");
  });

  test.each(FORMAT_NAMES)(
    "send nothing about reasoning to a model that does not reason, in the format %s",
    (format) => {
      const { body, warnings } = encode(targetOf(format, WITHOUT_VERBOSITY, null), CLIENT_PARAMETERS);
      const text = JSON.stringify(body);
      for (const word of ["effort", "thinking", "verbosity", "reasoning"]) expect(text).not.toContain(word);
      expect(warnings).toEqual([NOT_SENT]);
    },
  );

  test("leave reasoning out with a warning if max_tokens leaves no room for it", () => {
    const target = targetOf("anthropic-messages", { reasoning: { effort: "low" } }, REASONING.budget);
    const { body, warnings } = encode(target, { max_tokens: 500 });
    expect(body).not.toHaveProperty("thinking");
    expect(body["max_tokens"]).toBe(500);
    expect(warnings.map(({ field }) => field)).toEqual(["reasoning"]);
  });

  test("change nothing if the request names no tier", () => {
    const { body } = encode(targetOf("openai-chat", null, REASONING.efforts), CLIENT_PARAMETERS);
    expect(body).toEqual({ ...ASKED, ...CLIENT_PARAMETERS, model: "up" });
  });

  test("leave all other parameters to the client", () => {
    const { body } = encode(targetOf("openai-chat", { verbosity: "low" }, REASONING.efforts), {
      reasoning_effort: "high",
      seed: 7,
      unknown_field: { a: 1 },
    });
    expect(body).toMatchObject({
      reasoning_effort: "high",
      verbosity: "low",
      seed: 7,
      unknown_field: { a: 1 },
    });
  });
});
