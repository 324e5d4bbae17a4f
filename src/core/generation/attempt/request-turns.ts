import type { Log } from "../../../base/failures/log.ts";
import type { CalledTurn } from "../../../wire/canonical/answer/called-turn.ts";
import { nameTurn } from "../../../wire/client-apis/hub/list-turn-names.ts";
import type { TurnNames } from "../../../wire/client-apis/request/inference-request.ts";
import { isFreeId } from "../../catalog/records/is-free-id.ts";
import { scopeOf } from "../../routing/affinity/session-key.ts";
import type { Candidate } from "../../routing/plan/plan.ts";
import type { GenerationCall, GenerationDeps } from "../call/call.ts";
import type { ConversationStore } from "../memory/conversation-store.ts";
import type { IdentityHash } from "../memory/identity-hash.ts";

/** The remembered turns that one request may use at one candidate. */
export interface RequestTurns {
  /** Loads the known turns of a conversation. A failure of the store is logged, and the turns count as unknown. */
  load(names: TurnNames): Promise<void> | null;
  /** Returns a loaded turn; null if it is unknown or was not loaded. */
  recall(name: string): CalledTurn | null;
  /** Whether a turn was loaded. */
  readonly hasAny: boolean;
  /** Whether turns of the answer are stored. */
  readonly remembers: boolean;
  /** Stores a turn of the answer, without waiting for the store. Nothing is stored if no conversation was loaded. */
  remember(turn: CalledTurn): void;
}

/** For requests under zero data retention: nothing is remembered. */
export const NO_TURNS: RequestTurns = {
  load: () => null,
  recall: () => null,
  hasAny: false,
  remembers: false,
  remember: () => {},
};

/** The turns of a request whose conversation store has the given scope. */
export class StoredTurns implements RequestTurns {
  private knownScope: string | null = null;
  /** Null before any are loaded: most requests look none up. */
  private loaded: Map<string, CalledTurn | null> | null = null;
  /** Identifies the conversation before the answer. Null until it is known. */
  private prefix: string | null = null;

  constructor(
    private readonly store: ConversationStore,
    /** Called once, and only if a turn is looked up or remembered. Most requests avoid its cost, a hash of the vendor's key. */
    private readonly findScope: () => string,
    private readonly log: Pick<Log, "warn">,
  ) {}

  load({ prefix, list }: TurnNames): Promise<void> | null {
    this.prefix = prefix;
    if (this.store.isEmpty) return null;
    this.loaded ??= new Map();
    const { loaded } = this;
    const missing = list().filter((name) => !loaded.has(name));
    return missing.length === 0 ? null : this.recallAll(missing, loaded);
  }

  recall(name: string): CalledTurn | null {
    return this.loaded?.get(name) ?? null;
  }

  get hasAny(): boolean {
    return this.loaded?.values().some((turn) => turn !== null) === true;
  }

  get remembers(): boolean {
    return this.prefix !== null && this.store.keepsTurns;
  }

  remember(turn: CalledTurn): void {
    const { prefix } = this;
    if (prefix === null) return;
    const names = turn.keys.map((key) => nameTurn(prefix, key));
    void this.store.rememberTurn(this.scope, names, turn).catch((error) => this.logFailure(error));
  }

  private get scope(): string {
    this.knownScope ??= this.findScope();
    return this.knownScope;
  }

  private async recallAll(names: readonly string[], loaded: Map<string, CalledTurn | null>): Promise<void> {
    try {
      const turns = await this.store.recallTurns(this.scope, names);
      for (const name of names) loaded.set(name, turns.get(name) ?? null);
    } catch (error) {
      this.logFailure(error);
    }
  }

  private logFailure(error: unknown): void {
    this.log.warn("the conversation store failed; requests go on without remembered turns", {
      detail: String(error),
    });
  }
}

/** Returns the turns of a request at a candidate. */
export function openTurns(
  {
    conversations,
    accounts: { hashIdentity },
    log,
  }: Pick<GenerationDeps, "conversations" | "accounts" | "log">,
  call: Pick<GenerationCall, "principal" | "request">,
  candidate: Candidate,
): RequestTurns {
  return new StoredTurns(conversations, () => scopeOfTurns(hashIdentity, call, candidate), log);
}

/** Returns a text that identifies everything outside the conversation that must be equal for a turn to be reused. */
function scopeOfTurns(
  hashIdentity: IdentityHash,
  { principal, request: { api, session, user } }: Pick<GenerationCall, "principal" | "request">,
  { provider, model, key }: Candidate,
): string {
  const account = scopeOf(principal);
  const callerKey = principal.kind === "anonymous" ? null : principal.key.id;
  const vendorAccount = key.secret === null ? null : hashIdentity("user", "provider-key", key.secret);
  const vendor = [provider.record.slug, key.byokId, vendorAccount, familyOf(model.id)];
  return JSON.stringify([account, callerKey, api, session, user, ...vendor]);
}

/** Returns the model's id without the suffix of its free variant. Different models cannot read each other's reasoning. */
function familyOf(modelId: string): string {
  return isFreeId(modelId) ? modelId.slice(0, modelId.lastIndexOf(":")) : modelId;
}
