import type { Log } from "../../base/failures/log.ts";
import type { Random } from "../../base/secrets/random.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { AnswerStore } from "../../core/extensions/answers/answer-store.ts";
import type { LiveGateways } from "../../core/gateways/gateway-registry.ts";
import type { ConversationStore } from "../../core/generation/memory/conversation-store.ts";
import { LearningRateLimiter } from "../../core/limits/learning-rate-limiter.ts";
import { shareOf } from "../../core/limits/limit-share.ts";
import { MemoryRateLimiter } from "../../core/limits/memory-rate-limiter.ts";
import type { RateLimiter } from "../../core/limits/rate-limiter.ts";
import { createAdvisedHealth } from "../../core/routing/health/advised-health.ts";
import { createHealth, type Health } from "../../core/routing/health/health.ts";
import { formatHint, parseHint } from "../../core/routing/health/health-hints.ts";
import { createMemoryAnswerStore } from "../../storage/memory/answer-store.ts";
import { createMemoryConversationStore } from "../../storage/memory/conversation-store.ts";
import { parseRedisAddress, type RedisAddress } from "../../storage/redis/address.ts";
import { createRedisAnswerStore } from "../../storage/redis/answer-store.ts";
import { openRedisChannel } from "../../storage/redis/channel.ts";
import { connectRedis, type Redis } from "../../storage/redis/client.ts";
import { createRedisConversationStore } from "../../storage/redis/conversation-store.ts";
import { RedisRateLimiter } from "../../storage/redis/rate-limiter.ts";
import type { RedisId } from "./redis-id.ts";

/** State that gateways share and may lose: rate limits, the turns of conversations, and stored answers. */
export interface CommonState {
  readonly rateLimiter: RateLimiter;
  readonly conversations: ConversationStore;
  readonly answers: AnswerStore;
  /** This gateway's measurements of vendors, with the health hints of the others. */
  readonly health: Health;
  /** The current problem, for readiness and metrics; null if there is none. */
  problem(): CommonProblem | null;
  /** Tells the other gateways that this one has stopped. */
  close(): Promise<void>;
}

/** The reason why a gateway admits less than with common counts. */
interface CommonProblem {
  readonly text: string;
  /** Whether no request with a rate limit is admitted at all, so that another gateway should get the requests. */
  readonly isBlocking: boolean;
}

/** The dependencies of the common state. */
interface CommonStateParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly gatewayId: string;
  /** Null without Redis. */
  readonly redisUrl: string | null;
  /** Whether there may be other gateways. */
  readonly isShared: boolean;
  /** Returns the live gateways; null while others may not have counted this one. */
  readonly liveGateways: () => LiveGateways | null;
  /** A secret that all gateways have and Redis does not. */
  readonly secret: string;
  /** Milliseconds after which a generation that never ended stops counting as concurrent. */
  readonly leaseMs: number;
  /** Compares the Redis server with that of the other gateways. Rejects if they differ. */
  readonly joinRedis: (redis: Redis) => Promise<RedisId>;
  /** Bytes of conversations' turns in the memory of this process; 0 stores none, also not in Redis. */
  readonly turnBytes: number;
  /** Bytes of answers in the memory of this process; 0 keeps none, also not in Redis. */
  readonly answerBytes: number;
}

/**
 * Opens the common state: in Redis if it is configured, otherwise in this process, with its share of the limits if there may be other
 * gateways.
 */
export async function openCommonState(parts: CommonStateParts): Promise<CommonState> {
  const { redisUrl } = parts;
  return redisUrl === null ? openInProcess(parts) : await openInRedis(parts, redisUrl);
}

function openInProcess({
  clock,
  random,
  isShared,
  liveGateways,
  leaseMs,
  turnBytes,
  answerBytes,
}: CommonStateParts): CommonState {
  const shares = isShared
    ? { shareOf: (scope: Parameters<typeof shareOf>[0]) => shareOf(scope, liveGateways()) }
    : {};
  return {
    rateLimiter: new LearningRateLimiter(new MemoryRateLimiter({ leaseMs, ...shares })),
    conversations: createMemoryConversationStore({ clock, random, maxBytes: turnBytes }),
    answers: createMemoryAnswerStore({ clock, random, maxBytes: answerBytes }),
    health: createHealth(),
    problem: () => (isShared && liveGateways() === null ? NO_SHARE : null),
    async close() {},
  };
}

async function openInRedis(parts: CommonStateParts, url: string): Promise<CommonState> {
  const { clock, random, log, liveGateways, secret, leaseMs, turnBytes, answerBytes } = parts;
  const redis = connectRedis({ url, clock });
  await redis.start();
  const id = await parts.joinRedis(redis).catch((error) => {
    redis.close();
    throw error;
  });
  const hints = openHints(parts, redis, parseRedisAddress(url));
  const logAway = () => log.warn(AWAY, { reason: findReason(), gateways: liveGateways()?.count ?? null });
  const rateLimiter: RedisRateLimiter = new RedisRateLimiter({
    redis,
    clock,
    random,
    leaseMs,
    findLiveGateways: liveGateways,
    onChange(countsInRedis) {
      if (countsInRedis) log.info("rate limits are counted in Redis");
      else logAway();
    },
  });
  const findReason = () => redis.problem ?? rateLimiter.problem ?? "it is being told what was counted";
  await rateLimiter.start();
  if (!rateLimiter.countsInRedis) logAway();
  return {
    rateLimiter: new LearningRateLimiter(rateLimiter),
    conversations:
      turnBytes === 0
        ? createMemoryConversationStore({ clock, random, maxBytes: 0 })
        : createRedisConversationStore({ redis, clock, random, secret }),
    answers:
      answerBytes === 0
        ? createMemoryAnswerStore({ clock, random, maxBytes: 0 })
        : createRedisAnswerStore({ redis, clock, random, secret }),
    health: hints.health,
    problem: () => (rateLimiter.countsInRedis ? null : describeShare(liveGateways(), findReason())),
    async close() {
      id.stop();
      hints.channel.close();
      await rateLimiter.close();
      redis.close();
    },
  };
}

function openHints({ clock, gatewayId }: CommonStateParts, redis: Redis, { database }: RedisAddress) {
  const health = createAdvisedHealth(createHealth(), (hint) => channel.publish(formatHint(gatewayId, hint)));
  const channel = openRedisChannel({
    redis,
    clock,
    // Keys are separated by the number of the database, channels are not.
    name: `gateway:health${database === 0 ? "" : `/${database}`}`,
    onMessage(message) {
      const hint = parseHint(message, gatewayId);
      if (hint !== null) health.advise(hint, clock.now());
    },
  });
  return { health, channel };
}

const AWAY = "Redis is away; this gateway admits its share of each rate limit until it is back";

const NO_SHARE: CommonProblem = {
  text: "The other gateways have not counted this one yet; it has no share of the rate limits.",
  isBlocking: true,
};

function describeShare(live: LiveGateways | null, reason: string): CommonProblem {
  if (live === null) return NO_SHARE;
  const text = `Redis is away: ${reason}. Until it is back, each of the ${live.count} live gateways admits its share of the rate limits.`;
  return { text, isBlocking: false };
}
