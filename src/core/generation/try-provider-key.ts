import { parseChatRequest } from "../../wire/client-apis/chat-request.ts";
import { parseEmbeddingsRequest } from "../../wire/client-apis/embeddings-request.ts";
import type { InferenceRequest, ProviderTarget } from "../../wire/client-apis/inference-request.ts";
import { actionOf } from "../catalog/action-of.ts";
import {
  type Deployment,
  isReachable,
  type ProviderKey,
  type ServedProvider,
} from "../deployments/served-models.ts";
import { servesModel } from "../provider-keys/byok-keys.ts";
import type { Candidate } from "../routing/plan.ts";
import { attempt } from "./attempt.ts";
import type { GenerationDeps, Serving } from "./call.ts";
import { Cancellation } from "./cancellation.ts";
import type { EncodedForCandidate } from "./encode-for-candidate.ts";
import type { FailureClassification } from "./failure-classification.ts";
import { listProviderTargets } from "./upstream-target.ts";

/** What trying a key needs. */
export type TryDeps = Pick<GenerationDeps, "clock" | "timers">;

/** A BYOK key to try. */
export interface TriedKey {
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
}

/** How long a trial may take. Milliseconds. */
const TRIAL_MS = 15_000;

/**
 * Requests one token of a provider's cheapest model with a BYOK key, in the same way as a generation does. Leaves no record and
 * costs the account nothing here.
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
      status: "out_of_reach",
      message: `This gateway knows no model of ${name} that this key is for.`,
      model: null,
    };
  const candidate: Candidate = { ...deployment, key, why: "only" };
  const request = createRequest(deployment);
  const cancellation = new Cancellation(deps.clock, TRIAL_MS);
  try {
    const outcome = await attempt({
      deps,
      call: { request },
      candidate,
      cancellation,
      encoded: encode(request, candidate),
      identity: IDENTITY,
      isOut: null,
      size: {
        promptLimit: deployment.endpoint.contextLength,
        listedWindow: () => deployment.endpoint.contextLength,
      },
    });
    const result =
      outcome.kind === "failed"
        ? explainFailure(outcome.classification, name)
        : accepted(`${name} accepted the key.`);
    return { ...result, model: deployment.model.id };
  } finally {
    cancellation.stop();
  }
}

/** Finds the cheapest chat model that the key can call; an embedding model only if there is no chat model. */
function findCheapest(
  { catalog, servedModels }: Serving,
  { provider, key, models }: TriedKey,
): Deployment | null {
  const deployments = catalog.models
    .filter(({ id }) => servesModel(models, id))
    .flatMap(({ id }) => servedModels.allDeploymentsOf(id))
    .filter((deployment) => deployment.provider === provider)
    .filter((deployment) => isReachable(key, deployment, actionOf(deployment.model)));
  const [cheapest] = deployments.toSorted((a, b) => rank(a) - rank(b));
  return cheapest ?? null;
}

/** Returns a number to sort by. It is not money, so floating point suffices. */
function rank({ model, endpoint }: Deployment): number {
  const price = Number(endpoint.prices?.prompt ?? 0) + Number(endpoint.prices?.completion ?? 0);
  return actionOf(model) === "chat" ? price : price + 1_000;
}

const unchanged = (text: string): string => text;

function createRequest({ model }: Deployment): InferenceRequest {
  const { id } = model;
  if (actionOf(model) === "embeddings")
    return parseEmbeddingsRequest(Buffer.from(JSON.stringify({ model: id, input: "Hi" })), unchanged);
  const body = { model: id, messages: [{ role: "user", content: "Hi" }], max_tokens: 1 };
  return parseChatRequest(Buffer.from(JSON.stringify(body)), unchanged);
}

/** Encodes the request in its own format if the deployment has that, else in the first: every format can express it. */
function encode(request: InferenceRequest, candidate: Candidate): EncodedForCandidate {
  const targets = listProviderTargets(candidate);
  const chosen = targets.find(({ format }) => format === request.format) ?? (targets[0] as ProviderTarget);
  const target = {
    ...chosen,
    overrides: null,
    withReasoning: false,
    recallTurn: () => null,
    // The request names no user.
    hashUser: unchanged,
  };
  return { ...request.encode(target), format: chosen.format, otherFormats: [] };
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
