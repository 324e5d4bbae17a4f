import { matchPattern } from "../../../src/base/text/match-pattern.ts";
import type { ProviderFormat } from "../../../src/wire/conversation/traits/format-name.ts";
import type { Fields } from "../sites/profile-site.ts";
import { readParameter } from "./body-parameters.ts";

/** Reads a parameter by its name in OpenAI's chat API. */
type Read = (name: string) => unknown;

/** What a model refuses although the document of its host allows it. Written from what vendors publish, not from the catalog. */
interface ModelRule {
  /** Patterns of model ids. */
  readonly models: readonly string[];
  readonly except?: readonly string[];
  /** The only hosts that it is known of; absent: every host. */
  readonly hosts?: readonly string[];
  readonly formats?: readonly ProviderFormat[];
  readonly source: string;
  /** Returns the refused parameter, by its name in OpenAI's chat API; null: none. */
  readonly refuses: (read: Read) => string | null;
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** The first of these parameters that is there with another value than the one that is allowed. */
function firstOther(read: Read, allowed: Readonly<Record<string, unknown>>): string | null {
  const refused = Object.entries(allowed).find(
    ([name, value]) => isGiven(read(name)) && read(name) !== value,
  );
  return refused?.[0] ?? null;
}

const NOTHING = Symbol("no value");
const CLAUDE_SAMPLING = { temperature: 1, top_p: 1, top_k: NOTHING };
const GPT_FIXED = {
  presence_penalty: 0,
  frequency_penalty: 0,
  logit_bias: NOTHING,
  stop: NOTHING,
};
const GPT_SAMPLING = { temperature: 1, top_p: 1, logprobs: false, top_logprobs: 0 };
const NO_PENALTIES = { presence_penalty: 0, frequency_penalty: 0 };
const NOT_REASONING = ["openai/*-chat", "openai/*-chat-latest", "openai/gpt-audio*", "openai/gpt-oss*"];

export const MODEL_RULES: readonly ModelRule[] = [
  {
    models: [
      "anthropic/claude-opus-4.7*",
      "anthropic/claude-opus-4.8*",
      "anthropic/claude-*-5",
      "anthropic/claude-*-5.*",
    ],
    source:
      "https://openrouter.ai/docs/guides/evaluate-and-optimize/model-migrations/claude-4-7: sampling parameters that are not the default return a 400 error",
    refuses: (read) => firstOther(read, CLAUDE_SAMPLING),
  },
  {
    models: [
      "anthropic/claude-opus-4.1*",
      "anthropic/claude-*-4-1-*",
      "anthropic/claude-*-4.5*",
      "anthropic/claude-*-4-5-*",
      "anthropic/claude-*-4.6*",
    ],
    source: "https://github.com/ccbogel/QualCoder/issues/1125: only temperature or top_p, not both",
    refuses: (read) => (isGiven(read("temperature")) && isGiven(read("top_p")) ? "top_p" : null),
  },
  {
    models: ["anthropic/claude-*"],
    formats: ["anthropic-messages"],
    source:
      "https://platform.claude.com/docs/en/build-with-claude/extended-thinking: not compatible with temperature, top_k and forced tools; top_p from 0.95 to 1; the budget is below max_tokens and at least 1,024",
    refuses: (read) => {
      const { type, budget_tokens: budget } = (read("thinking") ?? {}) as {
        type?: string;
        budget_tokens?: number;
      };
      if (type !== "enabled" && type !== "adaptive") return null;
      if (budget !== undefined && (budget < 1024 || budget >= Number(read("max_tokens")))) return "thinking";
      if (["any", "tool"].includes(String((read("tool_choice") as Fields | undefined)?.["type"])))
        return "tool_choice";
      if (isGiven(read("top_p")) && Number(read("top_p")) < 0.95) return "top_p";
      return firstOther(read, { temperature: 1, top_k: NOTHING });
    },
  },
  {
    models: [
      "openai/o1*",
      "openai/o3*",
      "openai/o4*",
      "openai/gpt-5",
      "openai/gpt-5-*",
      "openai/gpt-5.*-pro",
      "openai/gpt-5.*-codex*",
    ],
    except: NOT_REASONING,
    source:
      "https://platform.openai.com/docs/guides/reasoning#limitations: temperature, top_p, penalties, logprobs and logit_bias are not supported",
    refuses: (read) => firstOther(read, { ...GPT_FIXED, ...GPT_SAMPLING }),
  },
  {
    models: [
      "openai/gpt-5.1",
      "openai/gpt-5.2",
      "openai/gpt-5.4",
      "openai/gpt-5.4-mini",
      "openai/gpt-5.4-nano",
    ],
    source:
      "https://platform.openai.com/docs/guides/latest-model#gpt-5-parameter-compatibility: temperature, top_p and logprobs only with the effort none",
    refuses: (read) =>
      firstOther(read, {
        ...GPT_FIXED,
        ...(isGiven(read("reasoning_effort")) && read("reasoning_effort") !== "none" ? GPT_SAMPLING : {}),
      }),
  },
  {
    models: ["openai/gpt-5.*", "openai/gpt-6*"],
    except: [
      ...NOT_REASONING,
      "openai/gpt-5.1",
      "openai/gpt-5.2",
      "openai/gpt-5.4",
      "openai/gpt-5.4-mini",
      "openai/gpt-5.4-nano",
    ],
    source:
      "https://platform.openai.com/docs/guides/latest-model: the default effort of the others is not none",
    refuses: (read) =>
      firstOther(read, { ...GPT_FIXED, ...(read("reasoning_effort") === "none" ? {} : GPT_SAMPLING) }),
  },
  {
    models: ["openai/gpt-5.5*", "openai/gpt-5.6*", "openai/gpt-6*"],
    source: "https://community.openai.com/t/1387096: in_memory is not available since GPT-5.5",
    refuses: (read) => firstOther(read, { prompt_cache_retention: "24h" }),
  },
  {
    models: ["*"],
    formats: ["openai-responses"],
    source: "https://github.com/vectorize-io/hindsight/issues/58: max_output_tokens is at least 16",
    refuses: (read) => (Number(read("max_tokens") ?? 16) < 16 ? "max_tokens" : null),
  },
  {
    models: ["google/gemini-2.5*", "google/gemini-3*"],
    source: "https://github.com/google-gemini/cookbook/issues/1290: Penalty is not enabled for this model",
    refuses: (read) => firstOther(read, NO_PENALTIES),
  },
  {
    models: ["x-ai/grok-4*", "x-ai/grok-3-mini*", "x-ai/grok-code*"],
    except: ["x-ai/*non-reasoning*"],
    source:
      "https://docs.x.ai/docs/guides/reasoning: presencePenalty, frequencyPenalty and stop are errors for reasoning models",
    refuses: (read) => firstOther(read, { ...NO_PENALTIES, stop: NOTHING }),
  },
  {
    models: ["moonshotai/kimi-k2.5*", "moonshotai/kimi-k2.6*", "moonshotai/kimi-k3*"],
    hosts: ["moonshotai"],
    source:
      "https://platform.kimi.ai/docs/api/models-overview: temperature, top_p, n and penalties are fixed",
    refuses: (read) => firstOther(read, { ...NO_PENALTIES, temperature: NOTHING, top_p: 0.95, n: 1 }),
  },
  {
    models: ["*"],
    hosts: ["mistral", "codestral"],
    source: "https://docs.mistral.ai/api: top_p must be 1 with greedy sampling",
    refuses: (read) =>
      read("temperature") === 0 && isGiven(read("top_p")) && read("top_p") !== 1 ? "top_p" : null,
  },
  {
    models: ["*"],
    hosts: ["groq"],
    formats: ["openai-chat"],
    source:
      "https://console.groq.com/docs/openai: n must be 1, logprobs, logit_bias and top_logprobs are a 400 error",
    refuses: (read) => firstOther(read, { n: 1, logprobs: false }),
  },
];

/** Returns the parameter that a model refuses in a body at a host, and where that is published; null: none. */
export function findRefusedByModel(
  body: Fields,
  { host, format, model }: { readonly host: string; readonly format: ProviderFormat; readonly model: string },
): { readonly parameter: string; readonly source: string } | null {
  const matches = (pattern: string) => matchPattern(pattern, model);
  for (const { models, except = [], hosts, formats, source, refuses } of MODEL_RULES) {
    if (!models.some(matches) || except.some(matches)) continue;
    if (hosts?.includes(host) === false || formats?.includes(format) === false) continue;
    const parameter = refuses((name) => readParameter(body, format, name));
    if (parameter !== null) return { parameter, source };
  }
  return null;
}
