import type { Clock } from "../../base/time/clock.ts";
import { nameDatabase } from "../../storage/postgres/connection/database-url.ts";
import { type PostgresProbe, probePostgres } from "../../storage/postgres/probe.ts";
import { formatRedisAddress, parseRedisAddress } from "../../storage/redis/address.ts";
import { probeRedis, type RedisProbe } from "../../storage/redis/probe.ts";
import type { Config } from "../config/config-schema.ts";

/** The result of probing a server. */
type Probed<Probe> =
  | { readonly kind: "answered"; readonly location: string; readonly probe: Probe }
  | { readonly kind: "failed"; readonly location: string; readonly reason: string };

/** The results of probing the configured servers; null for a server that is not configured. */
interface StoreProbes {
  readonly postgres: Probed<PostgresProbe> | null;
  readonly redis: Probed<RedisProbe> | null;
}

/** Reads facts about the configured servers, within a few seconds. Changes nothing. */
export async function probeStores({ database, redis }: Config, clock: Clock): Promise<StoreProbes> {
  const [ofPostgres, ofRedis] = await Promise.all([
    database.url === undefined
      ? null
      : probe(nameDatabase(database.url), () =>
          probePostgres({ url: database.url as string, isPooled: database.pooled, clock }),
        ),
    redis.url === undefined
      ? null
      : probe(formatRedisAddress(parseRedisAddress(redis.url)), () => probeRedis(redis.url as string, clock)),
  ]);
  return { postgres: ofPostgres, redis: ofRedis };
}

async function probe<Probe>(location: string, ask: () => Promise<Probe>): Promise<Probed<Probe>> {
  try {
    return { kind: "answered", location, probe: await ask() };
  } catch (error) {
    return { kind: "failed", location, reason: (error as Error).message };
  }
}
