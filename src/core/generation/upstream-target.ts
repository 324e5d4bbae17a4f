import { WeakPairs } from "../../base/weak-pairs.ts";
import type { ModelTarget } from "../../wire/canonical/model/format.ts";
import type {
  InferenceAction,
  InferenceRequest,
  ProviderTarget,
} from "../../wire/client-apis/request/inference-request.ts";
import { listStoringFields, type RetentionFacts } from "../../wire/conversation/stored-data.ts";
import { isConversationFormat, type ProviderFormat } from "../../wire/conversation/traits/format-name.ts";
import { FORMAT_TRAITS, toolCallRulesOf } from "../../wire/formats/traits.ts";
import { quirksOf } from "../catalog/list-formats.ts";
import type { ProviderQuirks } from "../catalog/records.ts";
import { resolveProfile } from "../catalog/resolve-charges.ts";
import {
  findFamilies,
  lastOf,
  resolveMarkedCache,
  resolveRefused,
  resolveTakes,
  resolveTurns,
} from "../catalog/resolve-takes.ts";
import { type Deployment, formatsOf, type ProviderKey } from "../deployments/served-models.ts";
import { upstreamActionOf } from "../deployments/upstream-address.ts";
import type { Candidate } from "../routing/plan.ts";

interface DescribedDeployment {
  readonly provider: Deployment["provider"];
  readonly model: Deployment["model"];
  /** The targets with a platform key. */
  readonly platform: TargetsOfKey;
  /** The targets with a BYOK key, with which everything may be sent. Created by the first request with such a key. */
  byok: TargetsOfKey | null;
}

interface TargetsOfKey {
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
  isByok = false,
): readonly ProviderTarget[] {
  let known = described.get(endpoint);
  if (known?.provider !== provider || known.model !== model) {
    const all = formatsOf(provider, endpoint).map((format) =>
      describe({ endpoint, model, provider }, format),
    );
    known = { provider, model, platform: groupTargets(all), byok: null };
    described.set(endpoint, known);
  }
  if (isByok) known.byok ??= withoutProfiles(known.platform);
  const { all, conversations } = (isByok ? known.byok : null) ?? known.platform;
  return action === "completions" ? all : conversations;
}

function groupTargets(all: readonly ProviderTarget[]): TargetsOfKey {
  const conversations = all.filter(({ format }) => isConversationFormat(format));
  return { all, conversations: conversations.length === all.length ? all : conversations };
}

function withoutProfiles({ all }: TargetsOfKey): TargetsOfKey {
  return groupTargets(all.map((target) => ({ ...target, profile: null })));
}

/** The targets that a key has an endpoint for, by the list of all of them. */
const usable = new WeakPairs<readonly ProviderTarget[], ProviderKey, UsableTargets[]>();

interface UsableTargets extends CalledFor {
  readonly targets: readonly ProviderTarget[];
}

type CalledFor = Pick<InferenceRequest, "action" | "stream">;

/**
 * Lists the targets of a candidate whose address has an endpoint for a request, as `listProviderTargets` does. A single one is not examined,
 * because served models include only deployments that have an address.
 */
export function listUsableTargets(candidate: Candidate, request: CalledFor): readonly ProviderTarget[] {
  const all = listProviderTargets(candidate, request.action, candidate.key.byokId !== null);
  if (all.length === 1) return all;
  const known = knownUsable(all, candidate.key);
  const { action, stream } = request;
  for (const one of known) if (one.action === action && one.stream === stream) return one.targets;
  const targets = all.filter((target) => isUsable(target, candidate.key, request));
  known.push({ action, stream, targets });
  return targets;
}

function knownUsable(all: readonly ProviderTarget[], key: ProviderKey): UsableTargets[] {
  let known = usable.get(all, key);
  if (known === undefined) {
    known = [];
    usable.set(all, key, known);
  }
  return known;
}

function isUsable(
  { format, model }: ProviderTarget,
  key: ProviderKey,
  { action, stream }: CalledFor,
): boolean {
  const call = { format, action: upstreamActionOf(action, format), model: model.name, stream };
  return key.address.urlFor(call) !== null;
}

/** Targets under zero data retention by what they were made of. */
const storeless = new WeakMap<ProviderTarget, Map<string, ProviderTarget>>();

/** Returns targets that are not asked to store anything of a request. */
export function withoutStorage(
  targets: readonly ProviderTarget[],
  request: Pick<InferenceRequest, "action" | "readRetention">,
): readonly ProviderTarget[] {
  const facts = {
    isImages: request.action === "images",
    cachesInMemory: request.readRetention?.().cachesInMemory ?? false,
  };
  return targets.map((target) => withoutStorageOf(target, facts));
}

function withoutStorageOf(target: ProviderTarget, facts: RetentionFacts): ProviderTarget {
  const known = storeless.get(target) ?? new Map<string, ProviderTarget>();
  storeless.set(target, known);
  const kind = `${facts.isImages}/${facts.cachesInMemory}`;
  let storing = known.get(kind);
  if (storing === undefined) {
    storing = forbidStorage(target, facts);
    known.set(kind, storing);
  }
  return storing;
}

function forbidStorage(target: ProviderTarget, facts: RetentionFacts): ProviderTarget {
  const storingFields = new Set(listStoringFields(FORMAT_TRAITS[target.format], facts));
  const refusedFields = target.refusedFields.union(storingFields);
  // It is sent as false.
  if (target.storesChats === true) refusedFields.delete("store");
  return { ...target, storingFields, refusedFields, sendsStoreFalse: target.storesChats === true };
}

function describe(
  { endpoint, model, provider }: Pick<Deployment, "endpoint" | "model" | "provider">,
  format: ProviderFormat,
): ProviderTarget {
  const { record } = provider;
  const quirks = quirksOf(record, format);
  const families = findFamilies(provider.families, model.id, record.slug);
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

/** Returns how a model's reasoning is controlled at a host that takes only these efforts. A model that has none of them keeps its own. */
function limitEfforts<Control extends ModelTarget["reasoning"]>(
  control: Control,
  taken: readonly string[] | undefined,
): Control {
  const efforts = control?.efforts?.filter((effort) => taken?.includes(effort) !== false) ?? [];
  const isSame = efforts.length === 0 || efforts.length === control?.efforts?.length;
  return isSame ? control : { ...control, efforts };
}

/** Most hosts of a format without an order make a chat of the request, in which nothing may stand between a call and its result. */
function wantsOrder(format: ProviderFormat, { resultsAnywhere }: ProviderQuirks): boolean {
  return FORMAT_TRAITS[format].tools.calls.results === "anywhere" && resultsAnywhere !== true;
}

const RESULTS_IN_ORDER = { results: "after-turn" } as const;

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
