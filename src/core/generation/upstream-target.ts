import type { InferenceAction, ProviderTarget } from "../../wire/client-apis/inference-request.ts";
import { isConversationFormat, type ProviderFormat } from "../../wire/conversation/format-name.ts";
import { toolCallRulesOf } from "../../wire/conversation/tool-call-rules.ts";
import type { ProviderQuirks } from "../catalog/records.ts";
import { type Deployment, formatsOf } from "../deployments/served-models.ts";

interface DescribedDeployment {
  readonly provider: Deployment["provider"];
  readonly model: Deployment["model"];
  /** The targets of conversations, and all of them for text completions. */
  readonly conversations: readonly ProviderTarget[];
  readonly all: readonly ProviderTarget[];
}

const described = new WeakMap<Deployment["endpoint"], DescribedDeployment>();

/**
 * Describes a deployment to the wire formats, once for each of its formats that an action can use, the preferred one first: how it
 * deviates from the format's original vendor. Memoized by model endpoint, as long as the catalog rows are the same.
 */
export function listProviderTargets(
  { endpoint, model, provider }: Deployment,
  action: InferenceAction,
): readonly ProviderTarget[] {
  let known = described.get(endpoint);
  if (known?.provider !== provider || known.model !== model) {
    const all = formatsOf(provider, endpoint).map((format) =>
      describe({ endpoint, model, provider }, format),
    );
    const conversations = all.filter(({ format }) => isConversationFormat(format));
    known = {
      provider,
      model,
      all,
      conversations: conversations.length === all.length ? all : conversations,
    };
    described.set(endpoint, known);
  }
  return action === "completions" ? known.all : known.conversations;
}

function describe(
  { endpoint, model, provider }: Pick<Deployment, "endpoint" | "model" | "provider">,
  format: ProviderFormat,
): ProviderTarget {
  const { record } = provider;
  const isUsual = format === record.format;
  const quirks = (isUsual ? record.quirks : record.formats?.[format]?.quirks) ?? NO_QUIRKS;
  // Hosts of the Messages format check tool-call ids as Anthropic does.
  const ids = !isUsual && format === "anthropic-messages" ? "anthropic" : record.toolCallIds;
  return {
    format,
    model: {
      name: endpoint.name,
      maxOutputTokens: endpoint.maxOutputTokens,
      takesImages: model.inputModalities.includes("image"),
      reasoning: model.reasoning ?? null,
      ...(model.isUndescribed === true ? {} : { reasons: model.supportedParameters.includes("reasoning") }),
      ...(quirks.reasoning === undefined ? {} : { reasoningFields: quirks.reasoning }),
      takesReasoningObject: quirks.takesReasoningObject === true,
      noInstructions: quirks.noInstructions === true,
      noEncryptedReasoning: quirks.noEncryptedReasoning === true,
    },
    toolCalls: toolCallRulesOf(format, ids),
    noStreamOptions: quirks.noStreamOptions === true,
    renames: renamesOf(quirks),
    knownFields: setOf(quirks.knownFields),
    knownMessageFields: setOf(quirks.knownMessageFields) ?? NONE,
    takesThinkingParts: quirks.thinkingParts === true,
    takesCustomTools: quirks.customTools === true,
    refusedFields: setOf(quirks.refusedFields) ?? NONE,
    wantsReasoningContent: quirks.wantsReasoningContent === true,
    noToolsWhileReasoning: endpoint.noToolsWhileReasoning?.includes(format) === true,
    takesReasoningDetails: quirks.takesReasoningDetails === true,
    bodyFields: record.body ?? {},
  };
}

const NO_QUIRKS: ProviderQuirks = {};
const NONE: ReadonlySet<string> = new Set();

function setOf(names: readonly string[] | undefined): ReadonlySet<string> | null {
  return names === undefined ? null : new Set(names);
}

/** Returns the fields that a provider names differently, as pairs of the usual name and its own. */
function renamesOf(quirks: ProviderQuirks): readonly (readonly [string, string])[] {
  const renames: (readonly [string, string])[] = [];
  if (quirks.maxCompletionTokens) renames.push(["max_tokens", "max_completion_tokens"]);
  if (quirks.noMaxCompletionTokens) renames.push(["max_completion_tokens", "max_tokens"]);
  if (quirks.randomSeed) renames.push(["seed", "random_seed"]);
  if (quirks.outputDimension) renames.push(["dimensions", "output_dimension"]);
  return renames;
}
