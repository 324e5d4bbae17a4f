import { createHmac } from "node:crypto";
import { BoundedMap } from "../../base/bounded-map.ts";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import { NONCE_BYTES, openSealed, sealBytes } from "../../base/seal.ts";
import type { ConversationStore } from "../../core/generation/conversation-store.ts";
import type { CalledTurn } from "../../wire/canonical/called-turn.ts";

const TTL_MS = 3_600_000;
/** Memory that a name of a turn takes besides the turn's contents. */
const NAME_BYTES = 200;
const NOTHING: ReadonlyMap<string, CalledTurn> = new Map();

/** An encrypted turn, found by a name for each of its calls. */
interface Entry {
  readonly names: readonly string[];
  readonly sealed: Buffer;
  readonly expiresAt: number;
}

export interface MemoryConversationStoreOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Upper bound of the memory that turns take; past it the oldest turns are evicted. 0 stores nothing. */
  readonly maxBytes: number;
}

/**
 * A `ConversationStore` in the memory of this process. Turns expire after an hour. They are encrypted, and their names hashed, with a
 * key that ends with the process.
 */
export function createMemoryConversationStore(options: MemoryConversationStoreOptions): ConversationStore {
  return new MemoryConversationStore(options);
}

class MemoryConversationStore implements ConversationStore {
  private readonly key: Buffer;
  private readonly entries: BoundedMap<Entry, null>;
  private readonly byName = new Map<string, Entry>();

  constructor(private readonly options: MemoryConversationStoreOptions) {
    this.key = Buffer.from(options.random.bytes(32));
    this.entries = new BoundedMap({ max: options.maxBytes, onEvict: (entry) => this.removeNames(entry) });
  }

  async rememberTurn(scope: string, turn: CalledTurn): Promise<void> {
    const { clock, random, maxBytes } = this.options;
    if (maxBytes === 0) return;
    const names = [...new Set(turn.callIds)].map((callId) => this.nameOf(scope, callId));
    for (const name of names) this.remove(this.byName.get(name));
    const sealed = sealBytes(this.key, random.bytes(NONCE_BYTES), Buffer.from(JSON.stringify(turn)));
    const bytes = sealed.length + NAME_BYTES * names.length;
    if (bytes > maxBytes) return;
    const entry = { names, sealed, expiresAt: clock.now() + TTL_MS };
    for (const name of names) this.byName.set(name, entry);
    this.entries.set(entry, null, bytes);
  }

  async recallTurns(scope: string, callIds: readonly string[]): Promise<ReadonlyMap<string, CalledTurn>> {
    if (this.entries.size === 0) return NOTHING;
    const turns = new Map<string, CalledTurn>();
    for (const callId of callIds) {
      const turn = this.open(this.byName.get(this.nameOf(scope, callId)));
      if (turn !== null) turns.set(callId, turn);
    }
    return turns;
  }

  private open(entry: Entry | undefined): CalledTurn | null {
    if (entry === undefined) return null;
    if (entry.expiresAt > this.options.clock.now())
      return JSON.parse(openSealed(this.key, entry.sealed).toString("utf8")) as CalledTurn;
    this.remove(entry);
    return null;
  }

  private nameOf(scope: string, callId: string): string {
    return createHmac("sha256", this.key).update(`${scope}\0${callId}`).digest("base64url");
  }

  private remove(entry: Entry | undefined): void {
    if (entry === undefined) return;
    this.entries.delete(entry);
    this.removeNames(entry);
  }

  private removeNames(entry: Entry): void {
    for (const name of entry.names) if (this.byName.get(name) === entry) this.byName.delete(name);
  }
}
