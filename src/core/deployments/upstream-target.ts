import type { ModelTarget } from "../../wire/canonical/model/format.ts";
import type { ProviderTarget } from "../../wire/client-apis/request/inference-request.ts";
import { listStoringFields, type RetentionFacts } from "../../wire/conversation/stored-data.ts";
import type { ProviderFormat } from "../../wire/conversation/traits/format-name.ts";
import { FORMAT_TRAITS, toolCallRulesOf } from "../../wire/formats/traits.ts";
import { resolveProfile } from "../catalog/prices/resolve-charges.ts";
import { quirksOf } from "../catalog/profile/list-formats.ts";
import {
  findFamilies,
  lastOf,
  resolveMarkedCache,
  resolveRefused,
  resolveTakes,
  resolveTurns,
} from "../catalog/profile/resolve-takes.ts";
import type { ProviderQuirks } from "../catalog/records/records.ts";
import type { ProviderEndpoint } from "./served-provider.ts";

/** Returns a target under zero data retention, whose vendor is never asked to store anything of a request. */
export function forbidStorage(target: ProviderTarget, facts: RetentionFacts): ProviderTarget {
  const storingFields = new Set(listStoringFields(FORMAT_TRAITS[target.format], facts));
  const refusedFields = target.refusedFields.union(storingFields);
  // `store` must not be refused, because it is sent as `false`.
  if (target.storesChats === true) refusedFields.delete("store");
  return { ...target, storingFields, refusedFields, sendsStoreFalse: target.storesChats === true };
}

/** Returns the target of a deployment in one of its formats. It describes how the deployment deviates from the format's original vendor. */
export function describeTarget(
  { endpoint, model, provider }: ProviderEndpoint,
  format: ProviderFormat,
): ProviderTarget {
  const { record } = provider;
  const quirks = quirksOf(record, format);
  const families = findFamilies(provider.families, model, record.slug);
  const taking = { endpoint, model, record, format, families };
  const { refused, known, noSchemas } = resolveRefused(taking);
  return {
    format,
    model: {
      name: endpoint.name,
      maxOutputTokens: endpoint.maxOutputTokens,
      takesImages: model.inputModalities.includes("image"),
      reasoning: limitEfforts(
        model.reasoning ?? null,
        quirks.efforts ?? FORMAT_TRAITS[format].parameters.efforts,
      ),
      ...(quirks.efforts === undefined ? {} : { hostEfforts: quirks.efforts }),
      ...(model.isUndescribed === true ? {} : { reasons: model.supportedParameters.includes("reasoning") }),
      ...(quirks.reasoning === undefined ? {} : { reasoningFields: quirks.reasoning }),
      takesReasoningObject: quirks.takesReasoningObject === true,
      ...resolveTurns({ endpoint, model, families }),
      noEncryptedReasoning: quirks.noEncryptedReasoning === true,
      isOwnHost: record.isOwnHost === true,
    },
    toolCalls: {
      ...toolCallRulesOf(format, record.toolCallIds),
      ...(wantsOrder(format, quirks) ? RESULTS_IN_ORDER : {}),
    },
    noStreamOptions: quirks.noStreamOptions === true,
    renames: renamesOf(quirks),
    knownFields: known === null ? null : new Set(known),
    knownMessageFields: setOf(quirks.knownMessageFields) ?? NONE,
    takesThinkingParts: quirks.thinkingParts === true,
    takesCustomTools: quirks.customTools === true,
    takesToolNamespaces: quirks.toolNamespaces === true,
    refusedFields: new Set(refused),
    storesChats: quirks.storesChats === true,
    takesSchemas: !noSchemas,
    traits: {
      takesDeveloper: quirks.developerRole === true,
      refusedFields: setOf(quirks.refusedMessageFields) ?? NONE,
      reasoningField: quirks.reasoningField ?? null,
      needsReasoning: lastOf(families, "needsReasoning") === true,
      refusesCacheMarks: quirks.noCacheMarks === true,
      marksPrefill: quirks.marksPrefill === true,
      namedRoles: setOf(quirks.namedRoles),
    },
    noToolsWhileReasoning: endpoint.noToolsWhileReasoning?.includes(format) === true,
    takesReasoningDetails: quirks.takesReasoningDetails === true,
    bodyFields: record.body ?? {},
    takes: resolveTakes(taking),
    markedCache: resolveMarkedCache({ endpoint, model, record, format }),
    profile: resolveProfile({ endpoint, model, record, format, quirks }),
  };
}

/**
 * Returns how a model's reasoning is controlled at a host that accepts only these efforts. A model that supports none of them keeps its own
 * efforts.
 */
function limitEfforts<Control extends ModelTarget["reasoning"]>(
  control: Control,
  taken: readonly string[] | undefined,
): Control {
  const efforts = control?.efforts?.filter((effort) => taken?.includes(effort) !== false) ?? [];
  const isSame = efforts.length === 0 || efforts.length === control?.efforts?.length;
  return isSame ? control : { ...control, efforts };
}

/**
 * Returns whether tool results must directly follow their calls although the format allows them anywhere. Most hosts of such a format
 * convert the request to a chat, which has this rule.
 */
function wantsOrder(format: ProviderFormat, { resultsAnywhere }: ProviderQuirks): boolean {
  return FORMAT_TRAITS[format].tools.calls.results === "anywhere" && resultsAnywhere !== true;
}

const RESULTS_IN_ORDER = { results: "after-turn" } as const;

const NONE: ReadonlySet<string> = new Set();

function setOf(names: readonly string[] | undefined): ReadonlySet<string> | null {
  return names === undefined ? null : new Set(names);
}

/** Returns the fields that a provider names differently, as pairs of the usual name and the provider's name. */
function renamesOf(quirks: ProviderQuirks): readonly (readonly [string, string])[] {
  const renames: (readonly [string, string])[] = [];
  if (quirks.maxCompletionTokens) renames.push(["max_tokens", "max_completion_tokens"]);
  if (quirks.noMaxCompletionTokens) renames.push(["max_completion_tokens", "max_tokens"]);
  if (quirks.randomSeed) renames.push(["seed", "random_seed"]);
  if (quirks.outputDimension) renames.push(["dimensions", "output_dimension"]);
  return renames;
}
