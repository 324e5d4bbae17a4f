import type { CalledTurn } from "../../wire/canonical/called-turn.ts";
import { scopeOf } from "../routing/session-key.ts";
import type { GenerationCall, GenerationDeps } from "./call.ts";

/** The memory of turns as one caller sees it. */
export interface CallersTurns {
  recall(callId: string): CalledTurn | null;
  remember(turn: CalledTurn): void;
}

/** Where nothing may be kept. */
export const NO_TURNS: CallersTurns = { recall: () => null, remember: () => {} };

/** The turns that a caller may have back. */
export function turnsOf({ turnMemory }: GenerationDeps, { principal }: GenerationCall): CallersTurns {
  const scope = scopeOf(principal);
  return {
    recall: (callId) => turnMemory.recall(scope, callId),
    remember: (turn) => turnMemory.remember(scope, turn),
  };
}
