import { createHmac } from "node:crypto";
import type { Random } from "../../base/secrets/random.ts";
import { NONCE_BYTES, openSealed, sealBytes } from "../../base/secrets/seal.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { AnswerStore, StoredAnswer } from "../../core/extensions/answers/answer-store.ts";
import type { Redis } from "./client.ts";
import { deriveKey } from "./derive-key.ts";

/** A larger answer is not kept: rate limits wait on the same connection. Characters of its JSON. */
const MAX_CHARS = 256_000;

/** Settings of an answer store on Redis. */
interface RedisAnswerStoreOptions {
  readonly redis: Redis;
  readonly clock: Clock;
  readonly random: Random;
  /** A secret that all gateways have and Redis does not. The keys for names and contents derive from it. */
  readonly secret: string;
}

/** A stored, encrypted answer. */
interface SealedAnswer {
  readonly answer: StoredAnswer;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** An `AnswerStore` that several gateways share in Redis. While Redis is unavailable, nothing is found or stored. */
export function createRedisAnswerStore({
  redis,
  clock,
  random,
  secret,
}: RedisAnswerStoreOptions): AnswerStore {
  const nameKey = deriveKey(secret, "names of answers");
  const sealKey = deriveKey(secret, "contents of answers");
  const redisKey = (name: string) =>
    `gateway:answer:{${createHmac("sha256", nameKey).update(name).digest("base64url")}}`;

  /** Returns null for an answer that has expired, or that was encrypted with another secret. */
  function open(sealed: string, key: string): StoredAnswer | null {
    try {
      const text = openSealed(sealKey, Buffer.from(sealed, "base64"), Buffer.from(key)).toString("utf8");
      const { answer, expiresAt } = JSON.parse(text) as SealedAnswer;
      return expiresAt > clock.now() ? answer : null;
    } catch {
      return null;
    }
  }

  return {
    async findAnswer(name) {
      if (!redis.isAvailable) return null;
      const key = redisKey(name);
      const found = await redis.send("GET", [key]).catch(() => null);
      return typeof found === "string" ? open(found, key) : null;
    },
    async keepAnswer(name, answer, ttlMs) {
      const stored: SealedAnswer = { answer, expiresAt: clock.now() + ttlMs };
      const text = JSON.stringify(stored);
      if (text.length > MAX_CHARS || !redis.isAvailable) return;
      const key = redisKey(name);
      const sealed = sealBytes(sealKey, random.bytes(NONCE_BYTES), Buffer.from(text), Buffer.from(key));
      // An answer that is not kept is asked for again.
      await redis.send("SET", [key, sealed.toString("base64"), "PX", String(ttlMs)]).catch(() => null);
    },
  };
}
