import { BoundedMap } from "../../base/collections/bounded-map.ts";
import type { Random } from "../../base/secrets/random.ts";
import { NONCE_BYTES, openSealed, sealBytes } from "../../base/secrets/seal.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { AnswerStore, StoredAnswer } from "../../core/extensions/answers/answer-store.ts";

/** The memory of an answer in addition to its contents. Bytes. */
const ENTRY_BYTES = 200;

interface Entry {
  readonly sealed: Buffer;
  readonly expiresAt: number;
}

/** Settings of an answer store in memory. */
interface MemoryAnswerStoreOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** The maximum memory of answers. Beyond it, the oldest ones are evicted. 0 keeps none. */
  readonly maxBytes: number;
}

/** An `AnswerStore` in the memory of this process. Answers are encrypted with a key that ends with the process. */
export function createMemoryAnswerStore({ clock, random, maxBytes }: MemoryAnswerStoreOptions): AnswerStore {
  const key = Buffer.from(random.bytes(32));
  const entries = new BoundedMap<string, Entry>({ max: maxBytes });
  return {
    async findAnswer(name) {
      const entry = entries.get(name);
      if (entry === undefined) return null;
      if (entry.expiresAt > clock.now())
        return JSON.parse(openSealed(key, entry.sealed).toString("utf8")) as StoredAnswer;
      entries.delete(name);
      return null;
    },
    async keepAnswer(name, answer, ttlMs) {
      const sealed = sealBytes(key, random.bytes(NONCE_BYTES), Buffer.from(JSON.stringify(answer)));
      const bytes = sealed.length + ENTRY_BYTES;
      if (bytes <= maxBytes) entries.set(name, { sealed, expiresAt: clock.now() + ttlMs }, bytes);
      else entries.delete(name);
    },
  };
}
