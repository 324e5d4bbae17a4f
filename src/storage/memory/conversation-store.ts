import { createHmac } from "node:crypto";
import { BoundedMap } from "../../base/collections/bounded-map.ts";
import type { Random } from "../../base/secrets/random.ts";
import { NONCE_BYTES, openSealed, sealBytes } from "../../base/secrets/seal.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { ConversationStore } from "../../core/generation/memory/conversation-store.ts";
import type { CalledTurn } from "../../wire/canonical/answer/called-turn.ts";

const TTL_MS = 3_600_000;
/** The memory of a turn's name in addition to the turn's contents. Bytes. */
const NAME_BYTES = 200;
const NOTHING: ReadonlyMap<string, CalledTurn> = new Map();

/** An encrypted turn, found by a name for each of its calls. */
interface Entry {
  readonly names: readonly string[];
  /** A keyed hash of the turn, which distinguishes it from other turns. */
  readonly hash: string;
  /** Null: several turns have this name, so it identifies none of them. */
  readonly sealed: Buffer | null;
  readonly expiresAt: number;
}

interface MemoryConversationStoreOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** The maximum memory of turns. Beyond it, the oldest turns are evicted. 0 stores nothing. */
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

  async rememberTurn(scope: string, given: readonly string[], turn: CalledTurn): Promise<void> {
    if (!this.keepsTurns) return;
    const { random } = this.options;
    const text = JSON.stringify(turn);
    const hash = this.hash(text);
    const names = [...new Set(given)].map((name) => this.nameOf(scope, name));
    const isTaken = (name: string) => {
      const known = this.find(name);
      return known !== null && known.hash !== hash;
    };
    for (const name of names.filter(isTaken)) this.add({ names: [name], hash: "", sealed: null });
    const free = names.filter((name) => this.find(name)?.sealed !== null);
    if (free.length === 0) return;
    const sealed = sealBytes(this.key, random.bytes(NONCE_BYTES), Buffer.from(text));
    this.add({ names: free, hash, sealed });
  }

  get keepsTurns(): boolean {
    return this.options.maxBytes > 0;
  }

  get isEmpty(): boolean {
    return this.entries.size === 0;
  }

  async recallTurns(scope: string, names: readonly string[]): Promise<ReadonlyMap<string, CalledTurn>> {
    if (this.isEmpty) return NOTHING;
    const turns = new Map<string, CalledTurn>();
    for (const name of names) {
      const sealed = this.find(this.nameOf(scope, name))?.sealed ?? null;
      if (sealed !== null)
        turns.set(name, JSON.parse(openSealed(this.key, sealed).toString("utf8")) as CalledTurn);
    }
    return turns;
  }

  /** Adds an entry, which replaces those with its names. An entry beyond the bound is not kept. */
  private add(entry: Omit<Entry, "expiresAt">): void {
    const bytes = (entry.sealed?.length ?? 0) + NAME_BYTES * entry.names.length;
    for (const name of entry.names) this.removeName(name);
    if (bytes > this.options.maxBytes) return;
    const dated = { ...entry, expiresAt: this.options.clock.now() + TTL_MS };
    for (const name of entry.names) this.byName.set(name, dated);
    this.entries.set(dated, null, bytes);
  }

  private find(name: string): Entry | null {
    const entry = this.byName.get(name);
    if (entry === undefined) return null;
    if (entry.expiresAt > this.options.clock.now()) return entry;
    this.remove(entry);
    return null;
  }

  private nameOf(scope: string, name: string): string {
    return this.hash(`${scope}\0${name}`);
  }

  private hash(text: string): string {
    return createHmac("sha256", this.key).update(text).digest("base64url");
  }

  /** Removes a name from its entry. An entry is removed with its last name. */
  private removeName(name: string): void {
    const entry = this.byName.get(name);
    this.byName.delete(name);
    if (entry?.names.every((own) => this.byName.get(own) !== entry)) this.entries.delete(entry);
  }

  private remove(entry: Entry): void {
    this.entries.delete(entry);
    this.removeNames(entry);
  }

  private removeNames(entry: Entry): void {
    for (const name of entry.names) if (this.byName.get(name) === entry) this.byName.delete(name);
  }
}
