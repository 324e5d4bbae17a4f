import { toolCallRulesOf } from "../../wire/conversation/tool-call-rules.ts";
import type { ProviderTarget } from "../../wire/dialects/inference-request.ts";
import type { ProviderQuirks } from "../catalog/records.ts";
import { formatOf, type Offer } from "../routing/roster.ts";

interface DescribedOffer {
  readonly provider: Offer["provider"];
  readonly model: Offer["model"];
  readonly target: ProviderTarget;
}

const described = new WeakMap<Offer["endpoint"], DescribedOffer>();

/**
 * An offer as the wire formats see it: what it speaks, and what its row says it wants to be different. Made once an
 * endpoint, for as long as its rows are the same.
 */
export function describeTarget({ endpoint, model, provider }: Offer): ProviderTarget {
  const known = described.get(endpoint);
  if (known?.provider === provider && known.model === model) return known.target;
  const target = describe({ endpoint, model, provider });
  described.set(endpoint, { provider, model, target });
  return target;
}

function describe({
  endpoint,
  model,
  provider,
}: Pick<Offer, "endpoint" | "model" | "provider">): ProviderTarget {
  const { toolCallIds } = provider.record;
  const format = formatOf(provider, endpoint);
  // They depart from the provider's usual format; fields of another are others, also where they have the same names.
  const quirks = format === provider.record.format ? provider.record.quirks : NO_QUIRKS;
  return {
    format,
    model: {
      name: endpoint.name,
      maxOutputTokens: endpoint.maxOutputTokens,
      takesImages: model.inputModalities.includes("image"),
      reasoning: model.reasoning ?? null,
    },
    toolCalls: toolCallRulesOf(format, toolCallIds),
    noStreamOptions: quirks.noStreamOptions === true,
    renames: renamesOf(quirks),
    knownFields: setOf(quirks.knownFields),
    knownMessageFields: setOf(quirks.knownMessageFields) ?? NONE,
    takesThinkingParts: quirks.thinkingParts === true,
    takesCustomTools: quirks.customTools === true,
    refusedFields: setOf(quirks.refusedFields) ?? NONE,
    wantsReasoningContent: quirks.wantsReasoningContent === true,
    bodyFields: provider.record.body ?? {},
  };
}

const NO_QUIRKS: ProviderQuirks = {};
const NONE: ReadonlySet<string> = new Set();

function setOf(names: readonly string[] | undefined): ReadonlySet<string> | null {
  return names === undefined ? null : new Set(names);
}

/** Fields that a provider spells otherwise, as its row says. */
function renamesOf(quirks: ProviderQuirks): readonly (readonly [string, string])[] {
  const renames: (readonly [string, string])[] = [];
  if (quirks.maxCompletionTokens) renames.push(["max_tokens", "max_completion_tokens"]);
  if (quirks.noMaxCompletionTokens) renames.push(["max_completion_tokens", "max_tokens"]);
  if (quirks.randomSeed) renames.push(["seed", "random_seed"]);
  if (quirks.outputDimension) renames.push(["dimensions", "output_dimension"]);
  return renames;
}
