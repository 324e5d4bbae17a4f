import type { InferenceRequest } from "../../../wire/client-apis/request/inference-request.ts";
import type { GateDecision } from "../../generation/call/extension.ts";
import type { StoredAnswer } from "./answer-store.ts";

/** The response header with the id of the generation whose answer is returned again. */
const ORIGIN_HEADER = "x-gateway-replay-of";

/** Whether request or answer is no text, so that the answer cannot be given again: audio, and forms with a file. */
export function isBinary({ isText }: Pick<InferenceRequest, "isText">): boolean {
  return !(isText.body && isText.answer);
}

/**
 * Returns a stored answer as the answer of another generation. Replaces the earlier id, which is random and therefore occurs nowhere else
 * in the text.
 */
export function replay(
  { generationId, body }: StoredAnswer,
  asId: string,
  headers: Readonly<Record<string, string>>,
): GateDecision {
  return {
    kind: "replace",
    body: body.replaceAll(generationId, asId),
    replayOf: generationId,
    headers: { ...headers, [ORIGIN_HEADER]: generationId },
  };
}
