import type { CalledTurn } from "../../wire/canonical/called-turn.ts";

/**
 * Remembers model turns that called tools, so that reasoning and signatures that a client dropped can be returned to the vendor.
 * Losing a turn costs the model its reasoning, never the request: implementations may evict and expire turns, must bound their own
 * waits, and store turns encrypted. Turns are separated by `scope`, the account or the hashed address that may have them back.
 */
export interface ConversationStore {
  /** Stores a turn under each of its `callIds`. An earlier turn under one of them is removed. */
  rememberTurn(scope: string, turn: CalledTurn): Promise<void>;
  /** Returns the turns known under the given call ids, by call id. Unknown and expired ones are absent. */
  recallTurns(scope: string, callIds: readonly string[]): Promise<ReadonlyMap<string, CalledTurn>>;
}
