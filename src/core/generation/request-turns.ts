import type { Log } from "../../base/log.ts";
import type { CalledTurn } from "../../wire/canonical/called-turn.ts";
import type { ConversationStore } from "./conversation-store.ts";

/** The remembered turns that one request may use. */
export interface RequestTurns {
  /** Loads the turns known under these names. A store that fails is logged, and the turns count as unknown. */
  load(names: readonly string[]): Promise<void>;
  /** Returns a loaded turn; null if it is unknown or was not loaded. */
  recall(name: string): CalledTurn | null;
  /** Stores a turn of the answer, without waiting for the store. */
  remember(turn: CalledTurn): void;
}

/** For requests under zero data retention: nothing is remembered. */
export const NO_TURNS: RequestTurns = { load: async () => {}, recall: () => null, remember: () => {} };

/** The view of a request whose principal owns the turns of `scope`. */
export class StoredTurns implements RequestTurns {
  /** Null before any are loaded: most requests look none up. */
  private loaded: Map<string, CalledTurn | null> | null = null;

  constructor(
    private readonly store: ConversationStore,
    private readonly scope: string,
    private readonly log: Pick<Log, "warn">,
  ) {}

  async load(names: readonly string[]): Promise<void> {
    this.loaded ??= new Map();
    const { loaded } = this;
    const missing = names.filter((name) => !loaded.has(name));
    if (missing.length === 0) return;
    try {
      const turns = await this.store.recallTurns(this.scope, missing);
      for (const name of missing) loaded.set(name, turns.get(name) ?? null);
    } catch (error) {
      this.logFailure(error);
    }
  }

  recall(name: string): CalledTurn | null {
    return this.loaded?.get(name) ?? null;
  }

  remember(turn: CalledTurn): void {
    void this.store.rememberTurn(this.scope, turn).catch((error) => this.logFailure(error));
  }

  private logFailure(error: unknown): void {
    this.log.warn("the conversation store failed; requests go on without remembered turns", {
      detail: String(error),
    });
  }
}
