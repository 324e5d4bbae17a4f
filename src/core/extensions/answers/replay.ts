import type { InferenceRequest } from "../../../wire/client-apis/request/inference-request.ts";
import type { GateDecision } from "../../generation/call/extension.ts";
import type { ReplayFeature, UsageRecord } from "../../usage/records/records.ts";
import type { StoredAnswer } from "./answer-store.ts";

/** The response header with the id of the generation whose answer is returned again. */
const ORIGIN_HEADER = "x-gateway-replay-of";

/** Whether request or answer is no text, so that the answer cannot be given again: audio, and forms with a file. */
export function isBinary({ isText }: Pick<InferenceRequest, "isText">): boolean {
  return !(isText.body && isText.answer);
}

/** Returns what the account paid for an answer, to the gateway or for a BYOK key to the provider. Nanodollars. */
export function costOfAnswer({ costNanodollars, upstreamCostNanodollars, isByok }: UsageRecord): number {
  return costNanodollars + (isByok ? upstreamCostNanodollars : 0);
}

/** How a stored answer is returned. */
interface ReplayForm {
  /** The id that the answer has: that of the generation that returns it, or the earlier one if that is the id of a kept response. */
  readonly asId: string;
  readonly by: ReplayFeature;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Returns a kept background response as the answer of another generation. Who presents the answer reads the response: it may still run. What
 * it costs, and the repetition saves, is not known then.
 */
export function replayResponse(id: string, { by, headers }: Omit<ReplayForm, "asId">): GateDecision {
  return {
    kind: "replace",
    body: "",
    replay: { of: id, by, savedNanodollars: 0 },
    headers: { ...headers, [ORIGIN_HEADER]: id },
  };
}

/**
 * Returns a stored answer as the answer of another generation. Replaces the earlier id, which is random and therefore occurs nowhere else
 * in the text.
 */
export function replay(
  { generationId, body, costNanodollars = 0 }: StoredAnswer,
  { asId, by, headers }: ReplayForm,
): GateDecision {
  return {
    kind: "replace",
    body: body.replaceAll(generationId, asId),
    replay: { of: generationId, by, savedNanodollars: costNanodollars },
    headers: { ...headers, [ORIGIN_HEADER]: generationId },
  };
}
