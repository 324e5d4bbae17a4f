import type { CalledTurn } from "../../../wire/canonical/answer/called-turn.ts";

/**
 * Remembers model turns that called tools, so that reasoning and signatures that a client dropped can be returned to the vendor.
 * Losing a turn costs the model its reasoning, never the request: implementations may evict and expire turns, must bound their own
 * waits, and store turns encrypted. A turn is found only by the same `scope` and name (`openTurns`, `nameTurn`), which bind it to its
 * caller, its conversation and its vendor.
 */
export interface ConversationStore {
  /** Stores a turn under each of its names. If another turn is stored under a name, the name becomes ambiguous and finds neither. */
  rememberTurn(scope: string, names: readonly string[], turn: CalledTurn): Promise<void>;
  /** Whether the store is enabled. */
  readonly keepsTurns: boolean;
  /** Whether the store certainly contains no turn, so that lookups can be skipped. */
  readonly isEmpty: boolean;
  /**
   * Returns the turns stored under the given names. Unknown, ambiguous and expired ones are absent. If there are many names, those of older
   * turns may be skipped.
   */
  recallTurns(scope: string, names: readonly string[]): Promise<ReadonlyMap<string, CalledTurn>>;
}
