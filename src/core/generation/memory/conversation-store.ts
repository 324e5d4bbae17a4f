import type { CalledTurn } from "../../../wire/canonical/answer/called-turn.ts";

/**
 * Remembers model turns that called tools, so that reasoning and signatures that a client dropped can be returned to the vendor.
 * Losing a turn costs the model its reasoning, never the request: implementations may evict and expire turns, must bound their own
 * waits, and store turns encrypted. A turn is found only by the same `scope` and name (`openTurns`, `nameTurn`), which bind it to its
 * caller, its conversation and its vendor.
 */
export interface ConversationStore {
  /** Stores a turn under each of its names. A name under which another turn is stored means neither from then on. */
  rememberTurn(scope: string, names: readonly string[], turn: CalledTurn): Promise<void>;
  /** Whether it stores turns at all. */
  readonly keepsTurns: boolean;
  /** Whether it certainly has no turn, so that none need be looked up. */
  readonly isEmpty: boolean;
  /**
   * Returns the turns known under the given names. Unknown, ambiguous and expired ones are absent. Names further back may be left out
   * where they are many.
   */
  recallTurns(scope: string, names: readonly string[]): Promise<ReadonlyMap<string, CalledTurn>>;
}
