import { type Failure, fail, GatewayError } from "../../base/errors.ts";
import type { Warning } from "../../wire/canonical/format.ts";
import { estimateTokens } from "../../wire/conversation/usage.ts";
import type { InferenceAction, InferenceRequest } from "../../wire/dialects/inference-request.ts";
import { policyOf } from "../accounts/join-policies.ts";
import type { Caller } from "../accounts/records.ts";
import { actionOf } from "../catalog/action-of.ts";
import { isWithdrawn, missingSince } from "../catalog/expiry.ts";
import { isFreeId } from "../catalog/is-free-id.ts";
import type { ModelRecord } from "../catalog/records.ts";
import { boundPrompt } from "../ledger/worst-case.ts";
import type { OwnKeys } from "../provider-keys/own-keys.ts";
import { chooseKeys, chooseOffers, type KeyChoice } from "../routing/choose-offers.ts";
import type { ServedProvider } from "../routing/roster.ts";
import { formatOf, type Offer } from "../routing/roster.ts";
import { selectOffers, warnOfWishes } from "../routing/select-offers.ts";
import type { GenerationDeps, Serving } from "./call.ts";
import { contextOverflow } from "./judge-failure.ts";

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
  /** The asked model's catalog id. */
  readonly modelId: string;
  /** Nothing of the request may stay anywhere, nor in the gateway's own memory of turns. */
  readonly zeroRetention: boolean;
  /** For `gateway_metadata.warnings`. */
  readonly warnings: readonly Warning[];
}

/**
 * Decides whether a request may run; `own` are the keys at providers that the caller's account brings.
 * @throws GatewayError `authentication`, `invalid_model`, `model_not_allowed`, `invalid_request`, `context_length_exceeded`,
 * `unavailable`.
 */
export function admit(
  deps: GenerationDeps,
  caller: Caller,
  request: InferenceRequest,
  own: OwnKeys | null,
): Admission {
  const serving = deps.serving();
  const ids = [request.model, ...request.fallbackModels];
  if (caller.kind === "anonymous") requireFree(ids);
  const choice = chooseKeys(caller, own, request.preferences.ownKeysOnly);
  const all = ids.map((id) => findAbleOffers(serving, choice, id, request));
  const policy = policyOf(deps.policy, caller);
  const { preferences } = request;
  const listNeeds = once(() => request.listNeeds());
  const offers = selectOffers(all, { policy, preferences, listNeeds, maxPromptTokens: boundPrompt(request) });
  const { model: asked } = all.flat()[0] as Offer;
  const { model } = offers.flat()[0] as Offer;
  refuseCertainOverflow(request, model);
  if (deps.recorder.isFull()) {
    throw new GatewayError(CANNOT_RECORD);
  }
  return {
    offers,
    modelId: asked.id,
    zeroRetention: preferences.zeroRetention || policy.zeroRetention !== null,
    warnings: warnOfWishes(preferences, listNeeds),
  };
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
  if (able.length > 0) return able.toSorted((a, b) => rankForFim(b) - rankForFim(a));
  return fail("invalid_model", `${quote(id)} does not do this here. Name another model.`, {
    metadata: { model: id },
  });
}

/** The account's own keys first; among them, and among the gateway's, the host that is for code (docs/contract.md, "Fill in the middle"). */
function rankForFim({ provider, keys }: Offer): number {
  const isOwn = keys.some(({ ownId }) => ownId !== null);
  return (isOwn ? 2 : 0) + (provider.record.isForCode ? 1 : 0);
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

/** A prompt of so many characters a token of the window cannot fit, whatever the tokenizer. */
const CERTAIN_CHARS_PER_TOKEN = 8;

/**
 * Refuses what cannot fit (specification 7, rule 2). Closer calls are the upstream's, whose refusal says the same.
 */
function refuseCertainOverflow(request: InferenceRequest, model: ModelRecord): void {
  const contextLength = Math.max(...model.endpoints.map((endpoint) => endpoint.contextLength));
  const limit = contextLength * CERTAIN_CHARS_PER_TOKEN;
  // Bytes are at hand, characters are never more: most prompts need no counting.
  if (request.promptTextBytes <= limit) return;
  const characters = request.countPromptChars();
  if (characters <= limit) return;
  const size = { contextLength, estimatedTokens: estimateTokens(characters) };
  const failure: Failure = contextOverflow({ contextLimit: null, contextRequested: null }, size, {});
  fail(failure.code, failure.message, failure.metadata === undefined ? {} : { metadata: failure.metadata });
}
