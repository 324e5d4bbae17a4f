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
import type { FailureClassification } from "./classify-failure.ts";
import type { EncodedForCandidate } from "./encode-for-candidate.ts";
import { listProviderTargets } from "./upstream-target.ts";

/** What trying a key takes. */
export type TryDeps = Pick<GenerationDeps, "clock" | "timers">;

/** What one call with a key has come to. */
export interface KeyTrial {
  /** `ok`: the provider took it. `refused`: it did not, or its account there has no credit. */
  readonly status: "ok" | "refused" | "out_of_reach";
  /** For people, without secrets. */
  readonly message: string;
  /** The model that was asked; null where there is none to ask. */
  readonly model: string | null;
}

/** How long a trial may take. Milliseconds. */
const TRIAL_MS = 15_000;

/**
 * Asks a provider's cheapest model for one token with an account's own key, the way that requests take. It leaves no record
 * and costs the account nothing here. `models` are those that the key is for.
 */
export async function tryProviderKey(
  deps: TryDeps,
  serving: Serving,
  provider: ServedProvider,
  key: ProviderKey,
  models: readonly string[] | null,
): Promise<KeyTrial> {
  const deployment = findCheapest(serving, provider, key, models);
  const { name } = provider.record;
  if (deployment === null)
    return {
      status: "out_of_reach",
      message: `No model of ${name} is known here that this key is for.`,
      model: null,
    };
  const candidate: Candidate = { ...deployment, key, why: "only" };
  const request = openRequest(deployment);
  const cancellation = new Cancellation(deps.clock, TRIAL_MS);
  try {
    const outcome = await attempt({
      deps,
      call: { request },
      candidate,
      cancellation: cancellation,
      encoded: encode(request, candidate),
      identity: IDENTITY,
      isOut: null,
      size: {
        promptLimit: deployment.endpoint.contextLength,
        listedWindow: () => deployment.endpoint.contextLength,
      },
    });
    const told =
      outcome.kind === "failed" ? judge(outcome.classification, name) : accept(`${name} took the key.`);
    return { ...told, model: deployment.model.id };
  } finally {
    cancellation.stop();
  }
}

/** Of models that talk; of a provider without any, of those that embed. */
function findCheapest(
  { catalog, servedModels }: Serving,
  provider: ServedProvider,
  key: ProviderKey,
  models: readonly string[] | null,
): Deployment | null {
  const deployments = catalog.models
    .filter(({ id }) => servesModel(models, id))
    .flatMap(({ id }) => servedModels.allDeploymentsOf(id))
    .filter((deployment) => deployment.provider === provider)
    .filter(({ model, endpoint }) => isReachable(key, provider, endpoint, actionOf(model)));
  const [cheapest] = deployments.toSorted((a, b) => rank(a) - rank(b));
  return cheapest ?? null;
}

/** Order only, so floats will do. */
function rank({ model, endpoint }: Deployment): number {
  const price = Number(endpoint.prices?.prompt ?? 0) + Number(endpoint.prices?.completion ?? 0);
  return actionOf(model) === "chat" ? price : price + 1_000;
}

const asIs = (id: string): string => id;

function openRequest({ model }: Deployment): InferenceRequest {
  const { id } = model;
  if (actionOf(model) === "embeddings")
    return parseEmbeddingsRequest(Buffer.from(JSON.stringify({ model: id, input: "Hi" })), asIs);
  const body = { model: id, messages: [{ role: "user", content: "Hi" }], max_tokens: 1 };
  return parseChatRequest(Buffer.from(JSON.stringify(body)), asIs);
}

/** In the client's own format, where the deployment has it: one short text goes whole in any. */
function encode(request: InferenceRequest, candidate: Candidate): EncodedForCandidate {
  const targets = listProviderTargets(candidate);
  const chosen = targets.find(({ format }) => format === request.format) ?? (targets[0] as ProviderTarget);
  const target = {
    ...chosen,
    overrides: null,
    withReasoning: false,
    recallTurn: () => null,
    // It names none.
    hashUser: asIs,
  };
  return { ...request.encode(target), format: chosen.format, otherFormats: [] };
}

/** Nobody reads the answer. */
const IDENTITY = {
  id: "gen_trial",
  model: "trial",
  created: 0,
  originalIds: null,
  makeCallId: () => "call_trial",
  onTurn: () => {},
};

type Told = Pick<KeyTrial, "status" | "message">;

function accept(message: string): Told {
  return { status: "ok", message };
}

function judge({ failure, keyIs }: FailureClassification, name: string): Told {
  if (keyIs === "refused") return { status: "refused", message: failure.message };
  // It knows whose request it does not answer.
  const tookKey = keyIs === "accepted" || failure.code === "rate_limit_exceeded";
  if (tookKey) return accept(`${name} took the key, and said of the request: ${failure.message}`);
  return { status: "out_of_reach", message: failure.message };
}
