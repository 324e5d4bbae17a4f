import { type Failure, fail } from "../../base/failures/errors.ts";
import { sha256 } from "../../base/secrets/hash.ts";
import { policyOf } from "../../core/accounts/records/merge-policies.ts";
import type { InferencePrincipal } from "../../core/accounts/records/principal.ts";
import type { GenerationResult } from "../../core/generation/call/call.ts";
import type { StreamKeeper } from "../../core/generation/call/extension.ts";
import { ownerOf } from "../../core/response-objects/chains/object-access.ts";
import { rejectPrevious } from "../../core/response-objects/chains/open-chain.ts";
import type { KeptResponse } from "../../core/response-objects/keep/kept-response.ts";
import type { OpenedState } from "../../core/response-objects/response-objects.ts";
import type { InferenceRequest } from "../../wire/client-apis/request/inference-request.ts";
import { NO_HANDOVER_MESSAGE } from "../../wire/openai-responses/state/compaction.ts";
import { type AskedState, isStateless } from "../../wire/openai-responses/state/read-state.ts";
import type { HttpDeps, RequestContext } from "../context/context.ts";
import { memoryOf } from "../middleware/read-body.ts";

/** A request as its client has sent it. */
interface SentRequest {
  readonly principal: InferencePrincipal;
  readonly request: InferenceRequest;
  readonly body: Buffer;
  /** The header `Idempotency-Key`; null if it is absent. */
  readonly idempotencyName: string | null;
}

/**
 * Reads what a request continues, and prepares keeping its response; null for a request without state. A request whose idempotency key is
 * in use continues nothing: it gets the answer of the first one.
 * @throws GatewayError as `ResponseObjects.open`; `authentication` without a key.
 */
export async function openState(
  context: RequestContext,
  { principal, request, body, idempotencyName: name }: SentRequest,
): Promise<OpenedState | null> {
  const {
    features: { responses, repeatable },
    generation,
  } = context.deps;
  const state = request.readState?.();
  if (state === undefined) return null;
  const isAsked = !isStateless(state.asked);
  if (principal.kind === "anonymous") return isAsked ? rejectAnonymous(state.asked) : null;
  if (!isAsked && !(responses.storesByDefault && state.asked.store !== false)) return null;
  const { zeroRetention } = policyOf(generation.settings.policy, principal);
  const key = name === null ? null : { scope: principal.key.id, name };
  const stateful = {
    owner: ownerOf(principal),
    state,
    isStreamed: request.stream,
    compactsNatively: state.asked.compacts && compactsNatively(generation, request),
    model: request.model,
    zeroRetention: zeroRetention !== null || request.preferences.zeroRetention,
    memory: memoryOf(context, principal),
    sentHash: key === null ? null : sha256(body, "hex"),
  };
  if (await repeatable.isRepeated(key)) return responses.openRepeated(stateful);
  try {
    return await responses.open(stateful);
  } catch (error) {
    // The first request may have begun meanwhile, and use the conversation.
    if (await repeatable.isRepeated(key)) return responses.openRepeated(stateful);
    throw error;
  }
}

/** Whether an endpoint of a model makes compactions: those of OpenAI and Azure, which also have namespaces of tools. */
function compactsNatively({ serving }: HttpDeps["generation"], { model, action }: InferenceRequest): boolean {
  const deployments = serving().servedModels.allDeploymentsOf(model);
  const isNative = ({ served }: (typeof deployments)[number]) =>
    served.targets(action).some(({ takesToolNamespaces }) => takesToolNamespaces === true);
  return deployments.some(isNative);
}

/** Nothing is kept for callers without a key. */
function rejectAnonymous({ previousId }: AskedState): never {
  if (previousId !== null) rejectPrevious(previousId);
  return fail(
    "authentication",
    'Responses are kept for API keys only. Send one as "Authorization: Bearer gw_…", or the whole conversation in input without store, previous_response_id, conversation and background.',
  );
}

/** Puts what is known of its state into an answer that is complete, and stores it before the client gets its end. */
export async function keepAnswer(
  result: GenerationResult,
  response: KeptResponse,
): Promise<GenerationResult> {
  const { answer, generationId } = result;
  switch (answer.kind) {
    case "json": {
      const whole = response.shapeWhole(latin1Of(answer.body));
      if (whole === null) {
        await response.abandon();
        return { ...result, answer: { kind: "failure", failure: NO_HANDOVER } };
      }
      const isStored = await response.end(generationId, whole.ended);
      const body = Buffer.from(whole.encode({ ...response.fields, store: isStored }), "latin1");
      return { ...result, answer: { ...answer, body } };
    }
    case "stream": {
      // A stream that takes time is kept while it is relayed.
      if (answer.stream instanceof ReadableStream) return result;
      const keeper = response.openStream(generationId);
      if (keeper === null) return result;
      return { ...result, answer: { ...answer, stream: await keepWhole(answer.stream, keeper) } };
    }
    default:
      await response.abandon();
      return result;
  }
}

const NO_HANDOVER: Failure = { code: "upstream_error", message: NO_HANDOVER_MESSAGE };

function latin1Of(body: string | Buffer): string {
  return (typeof body === "string" ? Buffer.from(body) : body).toString("latin1");
}

/** Keeps a stream that is complete already. */
async function keepWhole(stream: Buffer, keeper: StreamKeeper): Promise<Buffer> {
  const begun = keeper.read(stream);
  return Buffer.concat([begun, await keeper.end()]);
}

/** Removes the record of a response whose generation was rejected. */
export async function abandonState(state: OpenedState | null): Promise<void> {
  await state?.response.abandon();
}
