import { type Failure, fail, GatewayError } from "../../base/errors.ts";
import type { Warning } from "../../wire/canonical/format.ts";
import type { InferenceAction, InferenceRequest } from "../../wire/dialects/inference-request.ts";
import { policyOf } from "../accounts/join-policies.ts";
import { actionOf } from "../catalog/action-of.ts";
import { isWithdrawn, missingSince } from "../catalog/expiry.ts";
import { isFreeId } from "../catalog/is-free-id.ts";
import type { ModelRecord } from "../catalog/records.ts";
import { boundPrompt } from "../ledger/worst-case.ts";
import type { OwnKeys } from "../provider-keys/own-keys.ts";
import { chooseKeys, chooseOffers, type KeyChoice } from "../routing/choose-offers.ts";
import type { PromptTokens } from "../routing/prompt-tokens.ts";
import type { ServedProvider } from "../routing/roster.ts";
import { formatOf, type Offer } from "../routing/roster.ts";
import { type SiftedOut, siftOffers, warnOfWishes } from "../routing/select-offers.ts";
import type { GenerationCall, GenerationDeps, Serving } from "./call.ts";
import {
  describeFacts,
  findTierOffers,
  prepareTiers,
  refuseTierHere,
  type TierContext,
} from "./find-tier-offers.ts";
import { measurePrompt } from "./measure-prompt.ts";

/** Nothing may run, and no answer be given, that cannot be written down. */
export const CANNOT_RECORD: Failure = {
  code: "unavailable",
  message: "The gateway cannot write its records at the moment. Repeat the request later.",
  retryAfterS: 5,
  internal: "the journal cannot be written, or too many records wait for the store",
};

/** A request that may run: who could answer it, and how its limit stands. */
export interface Admission {
  /** Offers by model, the asked one first, then its fallbacks: those that policy and the request's own rules leave. */
  readonly offers: readonly (readonly Offer[])[];
  /** Offers that may not answer, and why. */
  readonly siftedOut: readonly SiftedOut[];
  /** What was asked for, as the catalog spells it: a model's id or a tier's. */
  readonly requestedId: string;
  /** The model that it is, or that the tier came to: what limits count. */
  readonly modelId: string;
  /** Nothing of the request may stay anywhere, nor in the gateway's own memory of turns. */
  readonly zeroRetention: boolean;
  /** For `gateway_metadata.warnings`. */
  readonly warnings: readonly Warning[];
}

/**
 * Decides whether a request may run; `own` are the keys at providers that the caller's account brings. A promise only
 * where the prompt's tokens must be counted.
 * @throws GatewayError `authentication`, `invalid_model`, `model_not_allowed`, `invalid_request`, `context_length_exceeded`,
 * `unavailable`.
 */
export function admit(
  deps: GenerationDeps,
  call: AskingCall,
  own: OwnKeys | null,
): Admission | Promise<Admission> {
  const letIn = (considered: Consideration): Admission => {
    if (considered.refusal !== null) throw new GatewayError(considered.refusal);
    if (deps.recorder.isFull()) throw new GatewayError(CANNOT_RECORD);
    return considered;
  };
  const considered = consider(deps, call, own);
  return considered instanceof Promise ? considered.then(letIn) : letIn(considered);
}

/** As much of a call as admission looks at. */
type AskingCall = Pick<GenerationCall, "caller" | "request" | "readHeader">;

/** A request, who could answer it, and why others may not; with `refusal` nobody may. */
export interface Consideration extends Admission {
  readonly refusal: Failure | null;
}

/**
 * Looks who may answer a request, and lets nothing in. A promise only where a balance has to be fetched or tokens to be
 * counted.
 * @throws GatewayError `authentication`, `invalid_model`; `model_not_allowed`, `invalid_request` or `unavailable` where a
 * tier or an account's own keys are the reason.
 */
export function consider(
  deps: GenerationDeps,
  call: AskingCall,
  own: OwnKeys | null,
): Consideration | Promise<Consideration> {
  const preparing = prepareTiers(deps, call);
  return preparing === null
    ? considerPrepared(deps, call, own)
    : preparing.then(() => considerPrepared(deps, call, own));
}

function considerPrepared(
  deps: GenerationDeps,
  call: AskingCall,
  own: OwnKeys | null,
): Consideration | Promise<Consideration> {
  const { caller, request } = call;
  const policy = policyOf(deps.policy, caller);
  const listNeeds = once(() => request.listNeeds());
  const all = findAllOffers(deps, call, { own, policy, listNeeds });
  const { model: asked } = all.flat()[0] as Offer;
  const tier = deps.serving().tiers.find(request.model);
  const maxPromptTokens = boundPrompt(request);
  const { preferences } = request;
  const sift = (promptTokens: PromptTokens | null): Consideration => {
    const rules = { policy, preferences, listNeeds, maxPromptTokens, promptTokens };
    const selection = siftOffers(all, rules);
    const first = selection.offers[0]?.[0]?.model ?? asked;
    return {
      ...selection,
      requestedId: tier?.id ?? asked.id,
      modelId: tier === undefined ? asked.id : first.id,
      zeroRetention: preferences.zeroRetention || policy.zeroRetention !== null,
      warnings: warnOfWishes(preferences, listNeeds),
    };
  };
  const measured = measurePrompt(deps.tokenCounter, request, all.flat());
  return measured instanceof Promise ? measured.then(sift) : sift(measured);
}

/** Offers for all that a request names, by model: tiers are resolved, and add no model that is there already. */
function findAllOffers(
  deps: GenerationDeps,
  call: AskingCall,
  { own, policy, listNeeds }: Pick<TierContext, "policy" | "listNeeds"> & { readonly own: OwnKeys | null },
): readonly (readonly Offer[])[] {
  const { caller, request } = call;
  const serving = deps.serving();
  if (
    caller.kind === "key" &&
    request.fallbackModels.length === 0 &&
    serving.tiers.find(request.model) === undefined
  ) {
    // As most requests are.
    const choice = chooseKeys(caller, own, request.preferences.ownKeysOnly);
    return [findAbleOffers(serving, choice, request.model, request)];
  }
  const ids = [request.model, ...request.fallbackModels];
  const isAnonymous = caller.kind === "anonymous";
  if (isAnonymous) requireFree(ids.filter((id) => serving.tiers.find(id) === undefined));
  const choice = chooseKeys(caller, own, request.preferences.ownKeysOnly);
  const all: (readonly Offer[])[] = [];
  const known = new Set<string>();
  const refusals: Failure[] = [];
  for (const id of ids) {
    const tier = serving.tiers.find(id);
    if (tier === undefined) {
      const offers = findAbleOffers(serving, choice, id, request);
      known.add((offers[0] as Offer).model.id);
      all.push(offers);
      continue;
    }
    if (request.action !== "chat") refuseTierHere(tier, request.action);
    const facts = describeFacts(deps, call);
    const found = findTierOffers(tier, { serving, choice, policy, isAnonymous, facts, listNeeds });
    if (found.kind === "refused") {
      refusals.push(found.failure);
      continue;
    }
    for (const offers of found.offers) {
      const { model } = offers[0] as Offer;
      if (!known.has(model.id)) all.push(offers);
      known.add(model.id);
    }
  }
  const [refusal] = refusals;
  if (all.length === 0 && refusal !== undefined) throw new GatewayError(refusal);
  return all;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made = made ?? { value: make() };
    return made.value;
  };
}

/** @throws GatewayError `authentication` for a paid model. */
export function requireFree(ids: readonly string[]): void {
  const paid = ids.find((id) => !isFreeId(id.toLowerCase()));
  if (paid === undefined) return;
  fail(
    "authentication",
    `${quote(paid)} needs an API key. Send it as "Authorization: Bearer gw_…", or use a model whose id ends in ":free".`,
  );
}

/**
 * Who could answer for a model.
 * @throws GatewayError `invalid_model` where nobody here can; `model_not_allowed` or `invalid_request` where only the account's own
 * keys may and none does; `unavailable` where its keys cannot be used.
 */
export function findOffers(
  serving: Serving,
  choice: KeyChoice,
  id: string,
  action: InferenceAction,
): readonly Offer[] {
  const model = serving.catalog.find(id);
  if (model === undefined)
    return fail("invalid_model", unknownModel(serving, id), { metadata: { model: id } });
  const isEmbedding = actionOf(model) === "embeddings";
  if (isEmbedding !== (action === "embeddings"))
    return fail("invalid_model", otherEndpoint(id, isEmbedding), { metadata: { model: id } });
  const { offers, broken } = chooseOffers(serving.roster, model.id, action, choice);
  if (offers.length > 0) return offers;
  const [provider] = broken;
  if (provider !== undefined) refuseBroken(provider);
  if (choice.ownOnly !== null && serving.roster.allOffersFor(model.id).length > 0)
    refuseHouseKeys(model, choice.ownOnly);
  return fail("invalid_model", unservedModel(serving, model), { metadata: { model: id } });
}

/** Own keys that cannot be opened, or that the provider's address has no use for; the gateway's do not stand in for them. */
function refuseBroken({ record }: ServedProvider): never {
  return fail(
    "unavailable",
    `The account's own key for ${record.name} cannot be used: this gateway cannot read it. Whoever manages the account can store it anew or disable it.`,
    { metadata: { provider: record.slug, is_byok: true }, retryAfterS: BROKEN_RETRY_S },
  );
}

/** Until somebody mends it there is no use in asking. Seconds. */
const BROKEN_RETRY_S = 60;

function refuseHouseKeys({ id }: ModelRecord, level: "account" | "request"): never {
  const remedy = `store a key for a provider of ${quote(id)} (GET /api/gateway/models/${id}/endpoints lists them), or name another model`;
  if (level === "account") {
    return fail(
      "model_not_allowed",
      `This account uses only its own keys, and has none that serves ${quote(id)}: ${remedy}.`,
      { metadata: { model: id } },
    );
  }
  return fail(
    "invalid_request",
    `provider.own_keys_only leaves nobody: the account has no key that serves ${quote(id)}. Leave it out, ${remedy}.`,
    { metadata: { field: "provider.own_keys_only", model: id } },
  );
}

/** Offers whose provider has the endpoint that a request needs; every one has that of what its model is for. */
function findAbleOffers(
  serving: Serving,
  choice: KeyChoice,
  id: string,
  request: InferenceRequest,
): readonly Offer[] {
  const offers = findOffers(serving, choice, id, request.action);
  if (request.action !== "fim") return offers;
  const able = offers.filter((offer) => hasEndpoint(offer, request));
  if (able.length > 0) return able;
  return fail("invalid_model", `${quote(id)} does not do this here. Name another model.`, {
    metadata: { model: id },
  });
}

/** Whether an offer's provider has the endpoint that a request needs. */
function hasEndpoint({ endpoint, provider, keys }: Offer, { action, stream }: InferenceRequest): boolean {
  const format = formatOf(provider, endpoint);
  const call = { format, action, model: endpoint.name, stream };
  return keys.some(({ address }) => address.urlFor(call) !== null);
}

function otherEndpoint(id: string, isEmbedding: boolean): string {
  return isEmbedding
    ? `${quote(id)} is an embedding model. Send it to POST /api/gateway/embeddings.`
    : `${quote(id)} makes no embeddings. Send it to POST /api/gateway/chat/completions, or name a model whose output_modalities are ["embedding"].`;
}

function unknownModel(serving: Serving, id: string): string {
  const near = serving.catalog.suggest(id, 3);
  const hint = near.length > 0 ? ` Did you mean ${near.map(quote).join(", ")}?` : "";
  return `There is no model ${quote(id)}.${hint} GET /api/gateway/models lists the models.`;
}

function withdrawnModel({ catalog, roster }: Serving, model: ModelRecord): string {
  const ends = [model.expires, ...model.endpoints.map(({ expires }) => expires)];
  const since =
    missingSince(model) ??
    ends
      .filter((day) => typeof day === "string")
      .sort()
      .at(-1);
  const near = catalog
    .suggest(model.id, NEAR_MODELS)
    .filter((id) => roster.offersFor(id).length > 0)
    .slice(0, 3);
  const hint = near.length > 0 ? ` Near it are ${near.map(quote).join(", ")}.` : "";
  return `${quote(model.id)} was withdrawn on ${since}.${hint} GET /api/gateway/models lists what is served.`;
}

const NEAR_MODELS = 20;

function unservedModel(serving: Serving, model: ModelRecord): string {
  if (isWithdrawn(model, serving.roster.day)) return withdrawnModel(serving, model);
  const variables = model.endpoints
    .map((endpoint) => serving.catalog.provider(endpoint.provider))
    .filter((provider) => provider !== undefined)
    // Who made it comes first, under whatever name: "openai/gpt-4o" at "openai".
    .sort((a, b) => Number(model.id.startsWith(b.slug)) - Number(model.id.startsWith(a.slug)))
    .flatMap((provider) => provider.env.apiKey[0] ?? []);
  const how =
    variables.length > 0 ? ` Its operator can set ${[...new Set(variables)].slice(0, 3).join(" or ")}.` : "";
  const own = serving.roster.allOffersFor(model.id)[0]?.provider.record.name;
  const bring = own === undefined ? "" : ` An account can bring a key of its own for ${own}.`;
  return `No provider that is configured here serves ${quote(model.id)}.${how}${bring} GET /api/gateway/models lists what is served.`;
}

/** Ids come from clients: bounded and without line breaks. */
function quote(id: string): string {
  return JSON.stringify(id.slice(0, 100));
}
