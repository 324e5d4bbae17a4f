import type { Clock } from "../../base/clock.ts";
import { StoreError } from "../../base/store-error.ts";
import { openConnection } from "./client.ts";

/** What a Redis or Valkey server says about itself. */
export interface RedisProbe {
  /** Such as `Redis 7.4.1` or `Valkey 8.0.1`. */
  readonly version: string;
  readonly majorVersion: number;
  /** What it does when its memory is full; null if it does not say. */
  readonly evictionPolicy: string | null;
  /** By how much the clock of the server is ahead of this machine's. Milliseconds. */
  readonly clockSkewMs: number;
}

/** Asks a server about itself, and writes only the key that each gateway probes. Rejects with a `StoreError` within `timeoutMs`. */
export async function probeRedis(url: string, clock: Clock, timeoutMs: number): Promise<RedisProbe> {
  const late = Promise.withResolvers<never>();
  const timer = clock.after(timeoutMs, () =>
    late.reject(new StoreError(`it has not answered for ${timeoutMs} ms`)),
  );
  const connection = openConnection(url, false);
  const ask = async (): Promise<RedisProbe> => {
    await connection.connect();
    await connection.send("SET", ["gateway:probe", "1", "PX", "1000"]);
    const info = String(await connection.send("INFO", []));
    const before = clock.now();
    const [seconds, microseconds] = (await connection.send("TIME", [])) as [string, string];
    const now = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
    return { ...readInfo(info), clockSkewMs: Math.round(now - (before + clock.now()) / 2) };
  };
  try {
    return await Promise.race([ask(), late.promise]);
  } catch (error) {
    throw error instanceof StoreError ? error : new StoreError((error as Error).message);
  } finally {
    timer.cancel();
    connection.close();
  }
}

function readInfo(info: string): Omit<RedisProbe, "clockSkewMs"> {
  const find = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1] ?? null;
  const valkey = find("valkey_version");
  const version = valkey ?? find("redis_version") ?? "0";
  return {
    version: `${valkey === null ? "Redis" : "Valkey"} ${version}`,
    majorVersion: Number.parseInt(version, 10),
    evictionPolicy: find("maxmemory_policy"),
  };
}
