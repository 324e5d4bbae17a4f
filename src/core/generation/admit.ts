import { type Failure, fail, GatewayError } from "../../base/errors.ts";
import type { Warning } from "../../wire/canonical/format.ts";
import { estimateTokens } from "../../wire/conversation/usage.ts";
import type { InferenceAction, InferenceRequest } from "../../wire/dialects/inference-request.ts";
import { policyOf } from "../accounts/join-policies.ts";
import type { Caller } from "../accounts/records.ts";
import { actionOf } from "../catalog/action-of.ts";
import { isFreeId } from "../catalog/is-free-id.ts";
import type { ModelRecord } from "../catalog/records.ts";
import { boundPrompt } from "../ledger/worst-case.ts";
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
 * Decides whether a request may run.
 * @throws GatewayError `authentication`, `invalid_model`, `model_not_allowed`, `invalid_request`, `context_length_exceeded`,
 * `unavailable`.
 */
export function admit(deps: GenerationDeps, caller: Caller, request: InferenceRequest): Admission {
  const serving = deps.serving();
  const ids = [request.model, ...request.fallbackModels];
  if (caller.kind === "anonymous") requireFree(ids);
  const all = ids.map((id) => findAbleOffers(serving, id, request));
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
 * @throws GatewayError `invalid_model` where nobody here can.
 */
export function findOffers(serving: Serving, id: string, action: InferenceAction): readonly Offer[] {
  const model = serving.catalog.find(id);
  if (model === undefined)
    return fail("invalid_model", unknownModel(serving, id), { metadata: { model: id } });
  const isEmbedding = actionOf(model) === "embeddings";
  if (isEmbedding !== (action === "embeddings"))
    return fail("invalid_model", otherEndpoint(id, isEmbedding), { metadata: { model: id } });
  const offers = serving.roster.offersFor(model.id);
  if (offers.length > 0) return offers;
  return fail("invalid_model", unservedModel(serving, model), { metadata: { model: id } });
}

/** Offers whose provider has the endpoint that a request needs; every one has that of what its model is for. */
function findAbleOffers(serving: Serving, id: string, request: InferenceRequest): readonly Offer[] {
  const offers = findOffers(serving, id, request.action);
  if (request.action !== "fim") return offers;
  const able = offers.filter((offer) => hasEndpoint(offer, request));
  if (able.length > 0) return able;
  return fail("invalid_model", `${quote(id)} does not do this here. Name another model.`, {
    metadata: { model: id },
  });
}

/** Whether an offer's provider has the endpoint that a request needs. */
function hasEndpoint({ endpoint, provider }: Offer, { action, stream }: InferenceRequest): boolean {
  const format = formatOf(provider, endpoint);
  return provider.address.urlFor({ format, action, model: endpoint.name, stream }) !== null;
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

function unservedModel(serving: Serving, model: ModelRecord): string {
  const variables = model.endpoints
    .map((endpoint) => serving.catalog.provider(endpoint.provider))
    .filter((provider) => provider !== undefined)
    // Who made it comes first, under whatever name: "openai/gpt-4o" at "openai".
    .sort((a, b) => Number(model.id.startsWith(b.slug)) - Number(model.id.startsWith(a.slug)))
    .flatMap((provider) => provider.env.apiKey[0] ?? []);
  const how =
    variables.length > 0 ? ` Its operator can set ${[...new Set(variables)].slice(0, 3).join(" or ")}.` : "";
  return `No provider that is configured here serves ${quote(model.id)}.${how} GET /api/gateway/models lists what is served.`;
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
