import type { ModelTarget } from "../../src/wire/canonical/model/format.ts";
import type { UpstreamTarget } from "../../src/wire/client-apis/request/inference-request.ts";
import type { FormatName } from "../../src/wire/conversation/traits/format-name.ts";
import { toolCallRulesOf } from "../../src/wire/formats/traits.ts";
import { OPENAI_TRAITS } from "../../src/wire/openai-chat/fit-messages.ts";

/** For each format, a model that supports everything its format can express. */
const MODELS: Readonly<Record<FormatName, ModelTarget>> = {
  "openai-chat": {
    name: "gpt-target",
    maxOutputTokens: 32_000,
    reasoning: { efforts: ["low", "medium", "high"], canDisable: true },
  },
  "openai-responses": {
    name: "gpt-target",
    maxOutputTokens: 32_000,
    reasoning: { efforts: ["none", "low", "medium", "high"], canDisable: true },
  },
  "anthropic-messages": {
    name: "claude-target",
    maxOutputTokens: 64_000,
    reasoning: {
      efforts: ["low", "medium", "high"],
      budgetTokens: { min: 1_024, max: 32_000 },
      canDisable: true,
    },
  },
  gemini: {
    name: "gemini-target",
    maxOutputTokens: 64_000,
    reasoning: { efforts: ["minimal", "low", "medium", "high"], canDisable: true },
  },
  "bedrock-converse": {
    name: "anthropic.claude-target-v1:0",
    maxOutputTokens: 64_000,
    reasoning: { budgetTokens: { min: 1_024, max: 32_000 }, canDisable: true },
  },
  "cohere-chat": {
    name: "command-target",
    maxOutputTokens: 32_000,
    reasoning: { budgetTokens: {}, canDisable: true },
  },
};

/** Returns a target of a provider without deviations from its format. */
export function makeTarget(format: FormatName): UpstreamTarget {
  return {
    provider: {
      format,
      model: MODELS[format],
      toolCalls: toolCallRulesOf(format, "openai"),
      noStreamOptions: false,
      renames: [],
      knownFields: null,
      knownMessageFields: new Set(),
      takesThinkingParts: false,
      takesCustomTools: true,
      takesToolNamespaces: true,
      refusedFields: new Set(),
      traits: OPENAI_TRAITS,
      bodyFields: {},
    },
    withReasoning: true,
    overrides: null,
    recallTurn: () => null,
    hashUser: (user) => `hashed(${user})`,
  };
}
