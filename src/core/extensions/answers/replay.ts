import type { GateDecision } from "../../generation/extension.ts";
import type { StoredAnswer } from "./answer-store.ts";

/** The response header that names the generation whose answer is given again. */
const ORIGIN_HEADER = "x-gateway-replay-of";

/**
 * Gives a stored answer again, as the answer of another generation: its id replaces the earlier one, which is random and therefore stands
 * nowhere else in the text.
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
