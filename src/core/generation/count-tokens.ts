import { GatewayError } from "../../base/errors.ts";
import type { CountRequest } from "../../wire/client-apis/count-request.ts";
import { NO_NEEDS } from "../../wire/conversation/needs.ts";
import { estimateTokens, readCount } from "../../wire/conversation/usage.ts";
import { asFields } from "../../wire/json/fields.ts";
import { parseJson } from "../../wire/json/parse-json.ts";
import { type EffectivePolicy, policyOf } from "../accounts/merge-policies.ts";
import type { InferencePrincipal } from "../accounts/principal.ts";
import { type Deployment, formatsOf } from "../deployments/served-models.ts";
import type { UpstreamCall } from "../deployments/upstream-address.ts";
import type { RateLimitStatus } from "../limits/rate-limiter.ts";
import type { ByokKeys } from "../provider-keys/byok-keys.ts";
import { chooseKeys } from "../routing/choose-deployments.ts";
import { healthTargetOf } from "../routing/health-target.ts";
import { requireKnownProviders } from "../routing/known-providers.ts";
import { selectDeployments } from "../routing/select-deployments.ts";
import { findFamily } from "../routing/tokenizer-families.ts";
import type { GenerationCall, GenerationDeps } from "./call.ts";
import { findByokKeys } from "./find-byok-keys.ts";
import { findDeployments, requireFree } from "./find-deployments.ts";
import { describeFacts, findTierDeployments, prepareTiers, type TierCall } from "./find-tier-deployments.ts";
import { estimateTexts } from "./measure-prompt.ts";
import { readBody } from "./read-body.ts";
import { countRequest } from "./take-limits.ts";

/** How long a vendor may take to count; an estimate is better than a wait. Milliseconds. */
const COUNT_MS = 5_000;
const COUNT_BYTES = 65_536;

/** How many tokens there are, and how the caller's limits stand after asking; null where there are none. */
export interface TokenCount {
  readonly tokens: number;
  /** No vendor has counted them. */
  readonly estimated: boolean;
  readonly limit: RateLimitStatus | null;
}

/**
 * How many tokens a conversation has for its model: counted by the vendor where one deployments it, else estimated with a
 * tokenizer. Costs nothing, leaves no record, and counts as a request of its caller, without tokens.
 * @throws GatewayError `invalid_model`, `model_not_allowed`, `invalid_request`; `authentication` for a paid model without a key;
 * `rate_limit_exceeded`.
 */
export async function countTokens(
  deps: GenerationDeps,
  principal: InferencePrincipal,
  request: CountRequest,
  readHeader: GenerationCall["readHeader"],
): Promise<TokenCount> {
  const own = await findByokKeys(deps, principal);
  const policy = policyOf(deps.policy, principal);
  const asked = await findAskedOffers(deps, { principal: principal, request, readHeader }, own, policy);
  requireKnownProviders(deps.serving, request.preferences);
  const deployments = selectDeployments(asked, {
    policy,
    tierId: deps.serving().tiers.find(request.model)?.id ?? null,
    preferences: request.preferences,
    listNeeds: () => NO_NEEDS,
    mayHaveMedia: false,
    maxPromptTokens: request.estimatedTokens,
    promptTokens: null,
  });
  const limit = await countRequest(deps, principal);
  // What else a tier comes to answers only where the first does not.
  for (const deployment of deployments[0] ?? []) {
    const tokens = await askVendor(deps, deployment, request);
    if (tokens !== null) return { tokens, estimated: false, limit };
  }
  const tokens = await estimate(deps, request, (deployments.flat()[0] as Deployment).model);
  return { tokens, estimated: true, limit };
}

/** Texts of more bytes are not counted whole. */
const WHOLE_BYTES = 1_000_000;

/** By a tokenizer and what is usual for the model's family; by the bytes where that cannot be had. */
async function estimate(
  { tokenCounter }: GenerationDeps,
  request: CountRequest,
  model: Deployment["model"],
): Promise<number> {
  const counted = await estimateTexts(tokenCounter, request.listPromptText(), WHOLE_BYTES);
  if (counted === null) return request.estimatedTokens;
  return Math.ceil(counted * findFamily(model).usual) + estimateTokens(request.otherBytes);
}

/** Offers for the model, or for those that a tier comes to. */
async function findAskedOffers(
  deps: GenerationDeps,
  {
    principal,
    request,
    readHeader,
  }: Pick<GenerationCall, "principal" | "readHeader"> & { readonly request: CountRequest },
  own: ByokKeys | null,
  policy: EffectivePolicy,
): Promise<readonly (readonly Deployment[])[]> {
  const serving = deps.serving();
  const choice = chooseKeys(principal, own, false);
  const tier = serving.tiers.find(request.model);
  const isAnonymous = principal.kind === "anonymous";
  if (tier === undefined) {
    if (isAnonymous) requireFree([request.model]);
    return [findDeployments(serving, choice, request.model, "chat")];
  }
  const call: TierCall = {
    principal: principal,
    request: { ...COUNTED, model: request.model },
    readHeader,
  };
  await prepareTiers(deps, call);
  const facts = describeFacts(deps, call);
  const listNeeds = () => NO_NEEDS;
  const found = findTierDeployments(tier, { serving, choice, policy, isAnonymous, facts, listNeeds });
  if (found.kind === "refused") throw new GatewayError(found.failure);
  return found.deployments;
}

/** A count belongs to no session: of free models any will do. */
const COUNTED: Omit<TierCall["request"], "model"> = {
  api: "messages",
  action: "chat",
  fallbackModels: [],
  session: null,
  user: null,
  hashPrefix: () => "",
};

/** Null where the vendor does not count, or could not this time. */
async function askVendor(
  deps: GenerationDeps,
  deployment: Deployment,
  request: CountRequest,
): Promise<number | null> {
  const { provider, endpoint, keys } = deployment;
  const format = "anthropic-messages";
  // The request is in this format, and no other vendor's count is worth translating for.
  if (!formatsOf(provider, endpoint).includes(format)) return null;
  const call: UpstreamCall = { format, action: "count-tokens", model: endpoint.name, stream: false };
  const key = keys.find(
    (key) => deps.health.waitMs(healthTargetOf({ ...deployment, key }), deps.clock.now()) === null,
  );
  const url = key?.address.urlFor(call) ?? null;
  if (url === null || key === undefined) return null;
  const body = request.encode(endpoint.name);
  const headers = {
    "content-type": "application/json",
    accept: "application/json",
    ...key.address.headersFor(format),
    ...key.headers,
  };
  try {
    const proof = await key.address.authorize({ url, body, headers, secret: key.secret });
    const exchange = provider.transport.open({
      url,
      method: "POST",
      headers: { ...headers, ...proof },
      body,
      connectTimeoutMs: COUNT_MS,
    });
    const timer = deps.clock.after(COUNT_MS, () => exchange.cancel());
    try {
      const response = await exchange.response;
      const answer = await readBody(response, COUNT_BYTES, "refuse");
      return response.status === 200 ? readAnswer(answer.toString("utf8")) : null;
    } finally {
      timer.cancel();
      exchange.cancel();
    }
  } catch {
    return null;
  }
}

function readAnswer(text: string): number | null {
  const count = readCount(asFields(parseJson(text))?.["input_tokens"]);
  return count === null || count > MOST_TOKENS ? null : count;
}

/** More than any prompt has: a prompt above its model's window is counted as well. */
const MOST_TOKENS = 100_000_000;
