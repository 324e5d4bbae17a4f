import { joinWords } from "../../base/text/join-words.ts";
import { listUnknownNames, type VersionedGateway } from "../../core/gateways/newer-rows.ts";
import type { PostgresProbe } from "../../storage/postgres/probe.ts";
import { isOlder } from "../../storage/sql/statements/require-known.ts";
import { probeStores } from "../stores/probe-stores.ts";
import { type DoctorScene, type Finding, failure, ok, reportSharedSchema, warning } from "./finding.ts";

const OLDEST_POSTGRES = 15;
const OLDEST_REDIS = 7;
/** A clock that differs by more moves days of limits and reports, and the ends of keys. Milliseconds. */
const MAX_SKEW_MS = 2_000;

/** Checks the configured PostgreSQL server, its version, schema and clock. */
export async function checkPostgres({ config, clock }: DoctorScene): Promise<readonly Finding[]> {
  const { postgres } = await probeStores({ ...config, redis: {} }, clock);
  if (postgres === null) return [];
  const { location } = postgres;
  if (postgres.kind === "failed")
    return [failure(`${location} cannot be used: ${postgres.reason}`, "Check database.url and the server.")];
  const { probe } = postgres;
  return [
    probe.majorVersion < OLDEST_POSTGRES
      ? failure(
          `${location} is PostgreSQL ${probe.version}`,
          `Install PostgreSQL ${OLDEST_POSTGRES} or newer.`,
        )
      : ok(`${location} answers: PostgreSQL ${probe.version}`),
    checkSchema(probe),
    ...(probe.isReadOnly ? [failure("it is read-only", "Point database.url at the primary.")] : []),
    checkSkew(probe.clockSkewMs),
    ...probe.gateways.flatMap(checkVersion),
  ];
}

/** A change that a registered gateway does not know is rejected (docs/versions.md). */
function checkVersion({ id, host, version }: VersionedGateway): readonly Finding[] {
  const names = listUnknownNames(version, isOlder);
  if (names.length === 0) return [];
  return [
    warning(
      `${id} on ${host} runs version ${version}, which does not know ${joinWords(names, "and")}: these cannot be changed`,
      "Upgrade that gateway, or release its leases if it does not come back.",
    ),
  ];
}

function checkSchema({ schema: { version, oldestVersion }, neededSchema }: PostgresProbe): Finding {
  if (oldestVersion > neededSchema)
    return failure(
      `a newer version of the gateway has migrated it (schema ${version})`,
      "Install that version.",
    );
  if (version < neededSchema)
    return warning(
      `it has schema ${version} of ${neededSchema}`,
      "Run `gateway migrate`, or start a gateway, which migrates it too.",
    );
  if (version > neededSchema) return reportSharedSchema(version, neededSchema);
  return ok(`it has schema ${version}, as this version needs`);
}

/** Checks the configured Redis server, its version, eviction and clock. */
export async function checkRedis({ config, clock }: DoctorScene): Promise<readonly Finding[]> {
  const { redis } = await probeStores({ ...config, database: { ...config.database, url: undefined } }, clock);
  if (redis === null) return [];
  const { location } = redis;
  if (redis.kind === "failed")
    return [failure(`${location} cannot be used: ${redis.reason}`, "Check redis.url and the server.")];
  const { version, majorVersion, masters, problems, clockSkewMs, evictionPolicy } = redis.probe;
  const kind = masters > 1 ? `, a cluster of ${masters}` : "";
  return [
    majorVersion !== null && majorVersion < OLDEST_REDIS
      ? failure(`${location} is ${version}`, `Install Redis ${OLDEST_REDIS} or Valkey.`)
      : ok(`${location} answers: ${version ?? "a server that does not say its version"}${kind}`),
    ...problems.map((problem) =>
      failure(`it does not permit what gateways need for ${problem}`, "Grant the permission."),
    ),
    ...checkEviction(evictionPolicy),
    ...(clockSkewMs === null ? [] : [checkSkew(clockSkewMs)]),
  ];
}

function checkEviction(evictionPolicy: string | null): readonly Finding[] {
  if (evictionPolicy === null || evictionPolicy === "noeviction") return [];
  return [
    warning(
      `its maxmemory-policy is ${evictionPolicy}: an evicted counter lets requests pass`,
      "Set maxmemory-policy noeviction.",
    ),
  ];
}

function checkSkew(skewMs: number): Finding {
  const text = `its clock differs from this machine's by ${Math.abs(skewMs)} ms`;
  return Math.abs(skewMs) > MAX_SKEW_MS ? warning(text, "Use NTP on both machines.") : ok(text);
}
