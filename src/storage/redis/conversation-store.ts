import { createHmac } from "node:crypto";
import type { Random } from "../../base/secrets/random.ts";
import { NONCE_BYTES, openSealed, sealBytes } from "../../base/secrets/seal.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { ConversationStore } from "../../core/generation/memory/conversation-store.ts";
import type { CalledTurn } from "../../wire/canonical/answer/called-turn.ts";
import type { Redis } from "./client.ts";
import { deriveKey } from "./derive-key.ts";

const TTL_MS = 3_600_000;
/** A larger turn is not stored. Characters of its JSON. */
const MAX_TURN_CHARS = 128_000;
/** The maximum number of turns that one request gets back, the last ones first. */
const MAX_TURNS = 100;
/** The maximum number of characters of a request's turns that are read. Further turns are not read. */
const MAX_READ_CHARS = 2_000_000;
/** The number of turns in one command. Few, because rate limits wait for its answer on the same connection. */
const TURNS_PER_COMMAND = 8;
const TTL = ["PX", String(TTL_MS)] as const;
const NOTHING: ReadonlyMap<string, CalledTurn> = new Map();

/** Settings of a conversation store on Redis. */
interface RedisConversationStoreOptions {
  readonly redis: Redis;
  readonly clock: Clock;
  readonly random: Random;
  /** A secret that all gateways have and Redis does not. Turns are encrypted, and their names hashed, with keys derived from it. */
  readonly secret: string;
}

/** A stored, encrypted turn. */
interface StoredTurn {
  readonly turn: CalledTurn;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The id under a name that several turns have. */
const AMBIGUOUS = "ambiguous";

/**
 * A `ConversationStore` that several gateways share in Redis. A turn is stored under an id, which its content decides; each of its names
 * has a key with that id. Turns expire after an hour, and are not stored while Redis is unavailable. All keys of a scope have one hash tag.
 */
export function createRedisConversationStore(options: RedisConversationStoreOptions): ConversationStore {
  return new RedisConversationStore(options);
}

class RedisConversationStore implements ConversationStore {
  private readonly nameKey: Buffer;
  private readonly sealKey: Buffer;
  readonly keepsTurns = true;
  /** Others may have stored some. */
  readonly isEmpty = false;
  /** Turns that are being written, by scope and name. A client's next request may be faster than the writes, and waits for them. */
  private readonly writing = new Map<string, Promise<void>>();

  constructor(private readonly options: RedisConversationStoreOptions) {
    this.nameKey = deriveKey(options.secret, "names of turns");
    this.sealKey = deriveKey(options.secret, "contents of turns");
  }

  async rememberTurn(scope: string, names: readonly string[], turn: CalledTurn): Promise<void> {
    const written = this.writeTurn(scope, names, turn);
    const own = names.map((name) => `${scope}\n${name}`);
    for (const name of own) this.writing.set(name, written);
    try {
      await written;
    } finally {
      for (const name of own) if (this.writing.get(name) === written) this.writing.delete(name);
    }
  }

  private async writeTurn(scope: string, given: readonly string[], turn: CalledTurn): Promise<void> {
    const { clock, redis, random } = this.options;
    const text = JSON.stringify({ turn, expiresAt: clock.now() + TTL_MS } satisfies StoredTurn);
    if (!redis.isAvailable) return;
    const tag = this.tagOf(scope);
    const names = [...new Set(given)].map((name) => this.nameOf(tag, name));
    const id = this.hash(`${names.join()}\0${JSON.stringify(turn)}`);
    const sealed = sealBytes(this.sealKey, random.bytes(NONCE_BYTES), Buffer.from(text), Buffer.from(id));
    const isStored = text.length <= MAX_TURN_CHARS;
    await Promise.all([
      ...(isStored ? [redis.send("SET", [turnKey(tag, id), sealed.toString("base64"), ...TTL])] : []),
      // A turn that is too large to be stored still makes its names ambiguous.
      ...names.map((name) => this.claimName(name, id)),
    ]);
  }

  /** Gives a name to a turn, or to none if another turn has it. Whichever of two gateways is the second finds the name taken. */
  private async claimName(name: string, id: string): Promise<void> {
    const { redis } = this.options;
    if ((await redis.send("SET", [name, id, ...TTL, "NX"])) !== null) return;
    const known = await redis.send("GET", [name]);
    await redis.send("SET", [name, known === id ? id : AMBIGUOUS, ...TTL]);
  }

  async recallTurns(scope: string, names: readonly string[]): Promise<ReadonlyMap<string, CalledTurn>> {
    if (!this.options.redis.isAvailable) return NOTHING;
    await this.finishWrites(scope, names);
    const tag = this.tagOf(scope);
    const ids = await this.readAll(names.map((name) => this.nameOf(tag, name)));
    const known = [...new Set(ids)].filter((id) => id !== null && id !== AMBIGUOUS) as string[];
    const turns = await this.readTurns(tag, known.slice(0, MAX_TURNS));
    const recalled = new Map<string, CalledTurn>();
    names.forEach((name, at) => {
      const turn = turns.get(ids[at] ?? "");
      if (turn !== undefined) recalled.set(name, turn);
    });
    return recalled;
  }

  /** Waits for the turns of these names that are being written. A write that fails is reported by `rememberTurn`. */
  private async finishWrites(scope: string, names: readonly string[]): Promise<void> {
    if (this.writing.size === 0) return;
    await Promise.allSettled(names.map((name) => this.writing.get(`${scope}\n${name}`)));
  }

  private async readTurns(tag: string, ids: readonly string[]): Promise<ReadonlyMap<string, CalledTurn>> {
    const turns = new Map<string, CalledTurn>();
    let chars = 0;
    for (let at = 0; at < ids.length && chars < MAX_READ_CHARS; at += TURNS_PER_COMMAND) {
      const group = ids.slice(at, at + TURNS_PER_COMMAND);
      const found = await this.readAll(group.map((id) => turnKey(tag, id)));
      group.forEach((id, index) => {
        const sealed = found[index] ?? null;
        chars += sealed?.length ?? 0;
        const turn = sealed === null ? null : this.open(sealed, id);
        if (turn !== null) turns.set(id, turn);
      });
    }
    return turns;
  }

  /** Returns null for a turn that has expired, or that was encrypted with another secret. */
  private open(sealed: string, id: string): CalledTurn | null {
    try {
      const text = openSealed(this.sealKey, Buffer.from(sealed, "base64"), Buffer.from(id)).toString("utf8");
      const { turn, expiresAt } = JSON.parse(text) as StoredTurn;
      return expiresAt > this.options.clock.now() ? turn : null;
    } catch {
      return null;
    }
  }

  /** Returns the texts of some keys, null for those that do not exist. */
  private async readAll(keys: readonly string[]): Promise<readonly (string | null)[]> {
    if (keys.length === 0) return [];
    const found = await this.options.redis.send("MGET", keys);
    return Array.isArray(found) ? found.map((text) => (typeof text === "string" ? text : null)) : [];
  }

  private tagOf(scope: string): string {
    return this.hash(scope);
  }

  private nameOf(tag: string, name: string): string {
    return `gateway:turn:{${tag}}:call:${this.hash(`${tag}\0${name}`)}`;
  }

  private hash(text: string): string {
    return createHmac("sha256", this.nameKey).update(text).digest("base64url");
  }
}

function turnKey(tag: string, id: string): string {
  return `gateway:turn:{${tag}}:${id}`;
}
