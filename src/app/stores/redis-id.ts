import type { Log } from "../../base/failures/log.ts";
import type { Random } from "../../base/secrets/random.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { GatewayIdentity } from "../../core/gateways/gateway-identity.ts";
import { type GatewayRegistry, RENEWAL_MS } from "../../core/gateways/gateway-registry.ts";
import type { Redis } from "../../storage/redis/client.ts";

/** The key of the id of a Redis server: the id of the database whose gateways use it, and a random part. */
const KEY = "gateway:id";
/** How long an id stays that no gateway renews. Milliseconds. */
const KEPT_MS = 60_000;
/** How long a start waits until the other gateways have written their id again, if a server has lost its data. Milliseconds. */
const WAIT_MS = 2 * RENEWAL_MS + 1_000;
const POLL_MS = 500;

/** The means by which a gateway compares its Redis server with that of the others. */
interface RedisIdParts {
  readonly redis: Pick<Redis, "send">;
  readonly registry: Pick<GatewayRegistry, "list" | "putRedisId">;
  readonly identity: GatewayIdentity;
  /** The id of the database. */
  readonly storeId: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** The comparison of a running gateway. */
export interface RedisId {
  stop(): void;
}

/**
 * Compares the Redis server of a starting gateway with the database, and with the servers of the other live gateways: gateways that count
 * in different servers would admit a multiple of every limit. Afterwards keeps the id in the server. If the server is unavailable, it is
 * compared when it is back, and a problem is logged.
 * @throws Error that says what differs.
 */
export async function joinRedis(parts: RedisIdParts): Promise<RedisId> {
  const keeper = new IdKeeper(parts);
  await keeper.join();
  const timer = parts.clock.every(RENEWAL_MS, () => void keeper.renew());
  return { stop: () => timer.cancel() };
}

class IdKeeper {
  /** The id that was compared; null while the server was not reached. */
  private own: string | null = null;
  private isRenewing = false;
  /** The last difference that was logged. */
  private logged: string | null = null;

  constructor(private readonly parts: RedisIdParts) {}

  /** Compares once, unless the server is unavailable. Rejects with an `Error` about what differs. */
  async join(): Promise<void> {
    const found = await this.find();
    if (found === undefined) return;
    const others = await this.listOthers();
    const id = found ?? (others.length === 0 ? await this.create() : await this.awaitId());
    if (id === undefined || (id === null && others.length === 0)) return;
    const difference = describeDifference(id, this.parts.storeId, others);
    if (difference !== null) throw new Error(difference);
    this.own = id;
    await this.parts.registry.putRedisId(this.parts.identity, id as string);
  }

  /** Keeps the id in the server, or compares it if that was not possible before. Never rejects. */
  async renew(): Promise<void> {
    if (this.isRenewing) return;
    this.isRenewing = true;
    try {
      if (this.own === null) await this.join();
      else await this.keep(this.own);
    } catch (error) {
      this.warn((error as Error).message);
    } finally {
      this.isRenewing = false;
    }
  }

  private async keep(own: string): Promise<void> {
    const found = await this.find();
    if (found === undefined) return;
    if (found === null) await this.send("SET", [KEY, own, "PX", String(KEPT_MS), "NX"]);
    else if (found === own) await this.send("PEXPIRE", [KEY, String(KEPT_MS)]);
    else this.warn(describeDifference(found, this.parts.storeId, [own]) ?? "");
  }

  private warn(difference: string): void {
    if (difference === this.logged) return;
    this.logged = difference;
    this.parts.log.error("this gateway does not use the stores of the others", { detail: difference });
  }

  /** Returns the id of the server; null if it has none, undefined if it does not answer. */
  private async find(): Promise<string | null | undefined> {
    const answer = await this.send("GET", [KEY]);
    return answer === undefined || answer === null ? answer : String(answer);
  }

  private async create(): Promise<string | null | undefined> {
    const { storeId, random } = this.parts;
    await this.send("SET", [
      KEY,
      `${storeId}.${Buffer.from(random.bytes(8)).toString("hex")}`,
      "PX",
      String(KEPT_MS),
      "NX",
    ]);
    // Another gateway may have been first.
    return this.find();
  }

  /** Waits for the id that the other gateways write into their server; null if it does not arrive in this one. */
  private async awaitId(): Promise<string | null | undefined> {
    const { clock } = this.parts;
    const until = clock.now() + WAIT_MS;
    for (;;) {
      const found = await this.find();
      if (found !== null || clock.now() >= until) return found;
      const { promise, resolve } = Promise.withResolvers<void>();
      clock.after(POLL_MS, resolve);
      await promise;
    }
  }

  private async listOthers(): Promise<readonly string[]> {
    const { registry, identity } = this.parts;
    return (await registry.list()).flatMap(({ id, isLive, redisId }) =>
      isLive && id !== identity.id && redisId !== null ? [redisId] : [],
    );
  }

  private async send(command: string, values: readonly string[]): Promise<unknown> {
    return this.parts.redis.send(command, values).catch(() => undefined);
  }
}

/** Returns how the id of a server differs from the expected one; null if it does not. */
function describeDifference(found: string | null, storeId: string, others: readonly string[]): string | null {
  if (found !== null && !found.startsWith(`${storeId}.`))
    return "redis.url (REDIS_URL) leads to a Redis server that gateways of another database use: give each installation a Redis server, or a numbered database of it, of its own, or correct database.url (DATABASE_URL). Once those gateways have stopped, the server is free after a minute";
  if (others.every((other) => other === found)) return null;
  return "redis.url (REDIS_URL) leads to a different Redis server than that of the other gateways on this database, so limits would be counted twice: set the same server on every gateway";
}
