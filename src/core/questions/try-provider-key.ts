import { Stopwatch } from "../../base/time/stopwatch.ts";
import { parseChatRequest } from "../../wire/client-apis/chat-request.ts";
import { parseCompletionsRequest } from "../../wire/client-apis/completions-request.ts";
import { parseEmbeddingsRequest } from "../../wire/client-apis/embeddings-request.ts";
import type {
  InferenceAction,
  InferenceRequest,
  ProviderTarget,
} from "../../wire/client-apis/request/inference-request.ts";
import { actionOf } from "../catalog/records/action-of.ts";
import { type Deployment, isReachable } from "../deployments/served-models.ts";
import type { ProviderKey, ServedProvider } from "../deployments/served-provider.ts";
import { type AttemptOutcome, attempt } from "../generation/attempt/attempt.ts";
import type { EncodedForCandidate } from "../generation/attempt/encode-for-candidate.ts";
import type { GenerationDeps, Serving } from "../generation/call/call.ts";
import { Cancellation } from "../generation/call/cancellation.ts";
import type { FailureClassification } from "../generation/failures/failure-classification.ts";
import { readProviderMessage } from "../generation/memory/recent-failures.ts";
import { redact } from "../generation/memory/redact.ts";
import { servesModel } from "../provider-keys/byok-keys.ts";
import type { Candidate } from "../routing/plan/plan.ts";

/** The dependencies of trying a key. */
interface TryDeps extends Pick<GenerationDeps, "clock"> {
  readonly settings: Pick<GenerationDeps["settings"], "timers">;
}

/** A platform key or BYOK key to try. */
interface TriedKey {
  readonly provider: ServedProvider;
  readonly key: ProviderKey;
  /** The models that the key is for, as patterns; null: all. */
  readonly models: readonly string[] | null;
}

/** The outcome of a call with a key. */
export interface KeyTrial {
  /** `ok`: the provider accepted it. `refused`: the provider rejected it, or its account there has no credit. */
  readonly status: "ok" | "refused" | "out_of_reach";
  /** An explanation without secrets. */
  readonly message: string;
  /** The model that was called; null if there is none. */
  readonly model: string | null;
  /** How long the provider took to answer or to fail, in milliseconds; null if it was not called. */
  readonly latencyMs: number | null;
  /** The provider's HTTP status; null if none was received, and for an answer. */
  readonly upstreamStatus: number | null;
  /** The failure in the provider's own words, without secrets; null if there was none. */
  readonly upstreamMessage: string | null;
}

/** How long a trial may take. Milliseconds. */
const TRIAL_MS = 15_000;

/**
 * Requests one token from a provider's cheapest model with a key, in the same way as a generation. Leaves no record, does not affect the
 * provider's health, and no account here pays for it.
 */
export async function tryProviderKey(
  deps: TryDeps,
  serving: Serving,
  { provider, key, models }: TriedKey,
): Promise<KeyTrial> {
  const deployment = findCheapest(serving, { provider, key, models });
  const { name } = provider.record;
  if (deployment === null)
    return {
      ...NOT_CALLED,
      status: "out_of_reach",
      message: `This gateway does not know any model of ${name} for which this key may be used.`,
    };
  const startedAt = deps.clock.now();
  const outcome = await callOnce(deps, { ...deployment, key, why: "only" });
  const called = { ...NOT_CALLED, model: deployment.model.id, latencyMs: deps.clock.now() - startedAt };
  if (outcome.kind !== "failed") return { ...called, status: "ok", message: `${name} accepted the key.` };
  const { classification, status: upstreamStatus } = outcome;
  const words = redact(readProviderMessage(classification.failure), key.secret).slice(0, WORDS_CHARS);
  return { ...called, ...explainFailure(classification, name), upstreamStatus, upstreamMessage: words };
}

const NOT_CALLED = { model: null, latencyMs: null, upstreamStatus: null, upstreamMessage: null } as const;
const WORDS_CHARS = 1_000;

/** Makes the request for one token. */
async function callOnce(deps: TryDeps, candidate: Candidate): Promise<AttemptOutcome> {
  const request = createRequest(candidate);
  const { contextLength } = candidate.endpoint;
  const cancellation = new Cancellation(deps.clock, TRIAL_MS);
  try {
    return await attempt({
      deps,
      call: { request, stopwatch: new Stopwatch(deps.clock) },
      candidate,
      cancellation,
      encoded: encode(request, candidate),
      identity: IDENTITY,
      isFailing: null,
      silentMs: null,
      size: { promptLimit: contextLength, listedWindow: () => contextLength },
    });
  } finally {
    cancellation.stop();
  }
}

/** Lists the ids of the models that a key opens: models of its provider that it may be used for and can be called with. */
export function listOpenedModels(serving: Serving, tried: TriedKey): readonly string[] {
  return listDeployments(serving, tried).map(({ model }) => model.id);
}

/** Finds the cheapest chat model that the key can call; an embedding model only if there is no chat model. */
function findCheapest(serving: Serving, tried: TriedKey): Deployment | null {
  const cheap = listDeployments(serving, tried).filter(({ model }) => TRIED.has(actionOf(model)));
  const [cheapest] = cheap.toSorted((a, b) => rank(a) - rank(b));
  return cheapest ?? null;
}

function listDeployments(
  { catalog, servedModels }: Serving,
  { provider, key, models }: TriedKey,
): readonly Deployment[] {
  return catalog.models
    .filter(({ id }) => servesModel(models, id))
    .flatMap(({ id }) => servedModels.allDeploymentsOf(id))
    .filter((deployment) => deployment.provider === provider)
    .filter((deployment) => isReachable(key, deployment, actionFor(deployment)));
}

/** Returns what a deployment is asked for in a trial. */
function actionFor({ model, onlyCompletes }: Deployment): InferenceAction {
  return onlyCompletes === true ? "completions" : actionOf(model);
}

/** Actions that a trial can call: at other endpoints, even the smallest request would cost as much as an image or a recording. */
const TRIED: ReadonlySet<string> = new Set(["chat", "embeddings"]);

/** Returns a number to sort by. It is not money, so floating point suffices. */
function rank({ model, endpoint }: Deployment): number {
  const price = Number(endpoint.prices?.prompt ?? 0) + Number(endpoint.prices?.completion ?? 0);
  return actionOf(model) === "chat" ? price : price + 1_000;
}

const unchanged = (text: string): string => text;

function createRequest(deployment: Deployment): InferenceRequest {
  const action = actionFor(deployment);
  const print = (fields: object) => Buffer.from(JSON.stringify({ model: deployment.model.id, ...fields }));
  if (action === "embeddings") return parseEmbeddingsRequest(print({ input: "Hi" }), unchanged);
  if (action === "completions")
    return parseCompletionsRequest(print({ prompt: "Hi", max_tokens: 1 }), unchanged);
  return parseChatRequest(print({ messages: [{ role: "user", content: "Hi" }], max_tokens: 1 }), unchanged);
}

/** Encodes the request in its own format if the deployment has that, otherwise in the first format: every format can express it. */
function encode(request: InferenceRequest, candidate: Candidate): EncodedForCandidate {
  const targets = candidate.served.targets(request.action);
  const provider = targets.find(({ format }) => format === request.format) ?? (targets[0] as ProviderTarget);
  const target = {
    provider,
    overrides: null,
    withReasoning: false,
    recallTurn: () => null,
    // The request names no user.
    hashUser: unchanged,
  };
  return request.encoding.encode(target);
}

/** The identity of an answer that is dropped. */
const IDENTITY = {
  id: "gen_trial",
  model: "trial",
  created: 0,
  originalIds: null,
  makeCallId: () => "call_trial",
  onTurn: () => {},
};

type Result = Pick<KeyTrial, "status" | "message">;

function accepted(message: string): Result {
  return { status: "ok", message };
}

function explainFailure({ failure, keyIs }: FailureClassification, name: string): Result {
  if (keyIs === "rejected") return { status: "refused", message: failure.message };
  // A rate-limit response also proves that the key is valid.
  const isAccepted = keyIs === "accepted" || failure.code === "rate_limit_exceeded";
  if (isAccepted) return accepted(`${name} accepted the key, but not the request: ${failure.message}`);
  return { status: "out_of_reach", message: failure.message };
}
