import { asFields } from "../../base/json/fields.ts";
import { parseJson } from "../../base/json/parse-json.ts";
import { readUtf8 } from "../../base/text/decode-bytes.ts";
import type { CountRequest } from "../../wire/client-apis/count-request.ts";
import { NO_NEEDS } from "../../wire/conversation/needs.ts";
import type { ProviderFormat } from "../../wire/conversation/traits/format-name.ts";
import { estimateTokens, readCount } from "../../wire/conversation/usage.ts";
import type { Deployment } from "../deployments/served-models.ts";
import { formatsOf, type ProviderKey } from "../deployments/served-provider.ts";
import type { UpstreamRequest } from "../deployments/transport.ts";
import { countRequest } from "../generation/admit/take-limits.ts";
import { readBody } from "../generation/attempt/read-body.ts";
import type { GenerationCall, GenerationDeps } from "../generation/call/call.ts";
import { estimateTexts } from "../generation/prepare/measure-prompt.ts";
import { nameDeployments } from "../generation/prepare/name-deployments.ts";
import type { RateLimitStatus } from "../limits/rate-limiter.ts";
import { healthTargetOf } from "../routing/health/health-target.ts";
import { selectDeployments } from "../routing/plan/select-deployments.ts";
import { findFamily } from "../routing/plan/tokenizer-families.ts";

/** How long a vendor may take to count; an estimate is better than a wait. Milliseconds. */
const COUNT_MS = 5_000;
const COUNT_BYTES = 65_536;

/** A request to count tokens whose caller is identified. */
interface CountCall extends Pick<GenerationCall, "principal" | "headers" | "preset"> {
  readonly request: CountRequest;
}

/** The number of tokens, and the status of the caller's limits after this request. */
interface TokenCount {
  readonly tokens: number;
  /** No vendor has counted them. */
  readonly estimated: boolean;
  /** Null if no limit applies. */
  readonly limit: RateLimitStatus | null;
}

/**
 * Counts the tokens of a conversation for its model: by its vendor if that offers token counts, otherwise by an estimate with a tokenizer.
 * Costs nothing, leaves no record, and counts as a request of its caller, without tokens. Rejects with a GatewayError `invalid_model`,
 * `model_not_allowed`, `invalid_request`; `authentication` for a paid model without a key; `rate_limit_exceeded`.
 */
export async function countTokens(deps: GenerationDeps, call: CountCall): Promise<TokenCount> {
  const { principal, request } = call;
  const { api, model, preferences } = request;
  const counted = { ...call, request: { ...COUNTED, api, model, preferences } };
  const listNeeds = () => NO_NEEDS;
  const { policy, requested, deployments: named } = await nameDeployments(deps, counted, listNeeds);
  const deployments = selectDeployments(named, {
    policy,
    choiceId: requested.name ?? requested.names[0]?.tier?.id ?? null,
    preferences,
    listNeeds,
    mayHaveMedia: false,
    maxPromptTokens: request.estimatedTokens,
    promptTokens: null,
  });
  const limit = await countRequest(deps, principal);
  // If there are several models, only the first one is counted for.
  const atVendors = deps.extensions.some(({ checksTexts }) => checksTexts) ? [] : (deployments[0] ?? []);
  for (const deployment of atVendors) {
    const tokens = await countAtVendor(deps, deployment, request);
    if (tokens !== null) return { tokens, estimated: false, limit };
  }
  const tokens = await estimate(deps, request, (deployments.flat()[0] as Deployment).model);
  return { tokens, estimated: true, limit };
}

/** For texts with more bytes than this, only a sample is counted. */
const WHOLE_BYTES = 1_000_000;

/** Estimates with the tokenizer and the usual ratio of the model's tokenizer family; by the bytes if texts cannot be counted. */
async function estimate(
  { tokenCounter }: GenerationDeps,
  request: CountRequest,
  model: Deployment["model"],
): Promise<number> {
  const counted = await estimateTexts(tokenCounter, request.listTexts(), WHOLE_BYTES);
  if (counted === null) return request.estimatedTokens;
  return Math.ceil(counted * findFamily(model).usual) + estimateTokens(request.otherBytes);
}

/** The facts about a count: it belongs to no session, so a tier may choose any free model. */
const COUNTED = {
  action: "chat",
  fallbackModels: [],
  session: null,
  user: null,
  prompt: { hashPrefix: () => "" },
  demands: {},
} as const;

/** Returns null if the vendor does not count tokens, or failed to. */
async function countAtVendor(
  deps: GenerationDeps,
  deployment: Deployment,
  request: CountRequest,
): Promise<number | null> {
  const { provider, endpoint, keys } = deployment;
  const { format } = request;
  if (!formatsOf(provider, endpoint).includes(format)) return null;
  const now = deps.clock.now();
  if (deps.routing.drains.find(provider.record.slug, deployment.model.id, now) !== null) return null;
  const key = keys.find(
    (key) => deps.routing.health.cooldown(healthTargetOf({ ...deployment, key }), now) === null,
  );
  if (key === undefined) return null;
  const url = key.address.urlFor({
    format,
    action: "count-tokens",
    model: endpoint.name,
    stream: false,
  });
  if (url === null) return null;
  const body = request.encode(endpoint.name);
  try {
    const exchange = provider.transport.open(await authorize(key, url, { format, body }));
    const timer = deps.clock.after(COUNT_MS, () => exchange.cancel());
    try {
      const response = await exchange.response;
      const answer = await readBody(response, COUNT_BYTES, "reject");
      return response.status === 200 ? readAnswer(readUtf8(answer)) : null;
    } finally {
      timer.cancel();
      exchange.cancel();
    }
  } catch {
    return null;
  }
}

/** Returns the request to send with a key. Rejects as `UpstreamAddress.authorize`. */
async function authorize(
  key: ProviderKey,
  url: URL,
  { format, body }: { readonly format: ProviderFormat; readonly body: Buffer },
): Promise<UpstreamRequest> {
  const headers = {
    "content-type": "application/json",
    accept: "application/json",
    ...key.address.headersFor(format),
    ...key.headers,
  };
  const credentials = await key.address.authorize({ url, body, headers, secret: key.secret });
  return {
    url,
    method: "POST",
    headers: { ...headers, ...credentials },
    body,
    connectTimeoutMs: COUNT_MS,
  };
}

function readAnswer(text: string): number | null {
  const count = readCount(asFields(parseJson(text))?.["input_tokens"]);
  return count === null || count > MAX_TOKENS ? null : count;
}

/** The highest plausible count: a prompt that exceeds its model's context window is counted too. */
const MAX_TOKENS = 100_000_000;
