import type { GatewayConfig } from "../../../core/gateways/gateway-config.ts";
import { type GatewayIdentity, GatewayReplacedError } from "../../../core/gateways/gateway-identity.ts";
import {
  GATEWAY_LEASE_MS,
  type GatewayDescription,
  type GatewayRegistry,
  type LiveGateways,
  type RegisteredGateway,
  type ReleasedLease,
} from "../../../core/gateways/gateway-registry.ts";
import { readInteger } from "../../sql/statements/values.ts";
import type { Postgres } from "../connection/client.ts";
import { releaseLeases } from "./release-leases.ts";
import { requireEpoch } from "./require-epoch.ts";

const NEXT_END = `clock_timestamp() + ${GATEWAY_LEASE_MS} * interval '1 millisecond'`;
const millisecondsOf = (column: string): string =>
  `floor(extract(epoch FROM ${column}) * 1000)::bigint AS ${column}`;

/** The gateways that share a database, by its clock. */
export class PostgresGatewayRegistry implements GatewayRegistry {
  constructor(private readonly database: Postgres) {}

  async register({
    id,
    host,
    version,
    dataDir,
    masterKeys,
    config,
  }: GatewayDescription): Promise<GatewayIdentity> {
    const [row] = await this.database.run<{ epoch: string }>(
      `INSERT INTO gateways (id, started_at, seen_at, ends_at, host, version, data_dir, master_keys, config)
       VALUES ($1, clock_timestamp(), clock_timestamp(), ${NEXT_END}, $2, $3, $4, $5, $6)
       ON CONFLICT (id) DO UPDATE SET
         epoch = excluded.epoch, started_at = excluded.started_at, seen_at = excluded.seen_at,
         ends_at = excluded.ends_at, host = excluded.host, version = excluded.version,
         data_dir = excluded.data_dir, master_keys = excluded.master_keys, config = excluded.config, redis_id = NULL
       RETURNING epoch`,
      [id, host, version, dataDir, JSON.stringify(masterKeys), JSON.stringify({ ...config, version })],
    );
    return { id, epoch: readInteger((row as { epoch: string }).epoch) };
  }

  async renew(identity: GatewayIdentity): Promise<LiveGateways | null> {
    const [row] = await this.database.run<RenewalRow>(
      `WITH renewed AS (
         UPDATE gateways SET seen_at = clock_timestamp(), ends_at = ${NEXT_END}
         WHERE id = $1 AND epoch = $2 RETURNING started_at)
       SELECT count(*) AS count, count(*) FILTER (WHERE id < $1) AS rank,
         bool_and(id = $1 OR seen_at > renewed.started_at) AS is_counted
       FROM gateways, renewed WHERE id = $1 OR ends_at > clock_timestamp()`,
      [identity.id, identity.epoch],
    );
    if (row === undefined || row.is_counted === null) throw new GatewayReplacedError(identity);
    return row.is_counted ? { count: readInteger(row.count), rank: readInteger(row.rank) } : null;
  }

  async putRedisId({ id, epoch }: GatewayIdentity, redisId: string): Promise<void> {
    await this.database.run("UPDATE gateways SET redis_id = $3 WHERE id = $1 AND epoch = $2", [
      id,
      epoch,
      redisId,
    ]);
  }

  async putConfig({ id, epoch }: GatewayIdentity, config: GatewayConfig): Promise<void> {
    await this.database.run(
      `UPDATE gateways SET config = ($3::text::jsonb || jsonb_build_object('version', version))::text
       WHERE id = $1 AND epoch = $2`,
      [id, epoch, JSON.stringify(config)],
    );
  }

  async end(identity: GatewayIdentity): Promise<void> {
    await this.database.run(END, [identity.id, identity.epoch]);
  }

  async list(): Promise<readonly RegisteredGateway[]> {
    const rows = await this.database.run<GatewayRow>(
      `SELECT id, epoch, host, version, data_dir, master_keys, redis_id, config, ends_at > clock_timestamp() AS is_live,
         (SELECT coalesce(sum(amount), 0)::bigint FROM balance_leases WHERE gateway_id = gateways.id) AS leased,
         ${["started_at", "seen_at", "ends_at"].map(millisecondsOf).join(", ")}
       FROM gateways ORDER BY id`,
    );
    return rows.map(toGateway);
  }

  async takeOver({ id, epoch }: GatewayIdentity): Promise<GatewayIdentity | null> {
    const [row] = await this.database.run<{ epoch: string }>(
      `UPDATE gateways SET epoch = nextval('gateway_epochs')
       WHERE id = $1 AND epoch = $2 AND ends_at <= clock_timestamp() RETURNING epoch`,
      [id, epoch],
    );
    return row === undefined ? null : { id, epoch: readInteger(row.epoch) };
  }

  async releaseLeases(identity: GatewayIdentity): Promise<readonly ReleasedLease[] | null> {
    return this.database.transaction(async (sql) => {
      await requireEpoch(sql, identity);
      return releaseLeases(sql, identity.id);
    });
  }
}

/** Leases of 0 only remember which orders were carried out. Orders of an epoch that has ended cannot be sent again. */
const END = `WITH ended AS (
    SELECT id FROM gateways WHERE id = $1 AND epoch = $2 FOR UPDATE
  ), unused AS (
    DELETE FROM balance_leases WHERE gateway_id IN (SELECT id FROM ended) AND amount = 0
  ), unused_limits AS (
    DELETE FROM spending_leases WHERE gateway_id IN (SELECT id FROM ended) AND amount = 0
  ), kept AS (
    UPDATE gateways SET ends_at = clock_timestamp() WHERE id IN (SELECT id FROM ended)
      AND (EXISTS (SELECT FROM balance_leases WHERE gateway_id = $1 AND amount > 0)
        OR EXISTS (SELECT FROM spending_leases WHERE gateway_id = $1 AND amount > 0)) RETURNING id
  )
  DELETE FROM gateways WHERE id IN (SELECT id FROM ended) AND NOT EXISTS (
    SELECT FROM balance_leases WHERE gateway_id = $1 AND amount > 0
    UNION ALL SELECT FROM spending_leases WHERE gateway_id = $1 AND amount > 0)`;

/** One row; `is_counted` is null without a renewal. */
interface RenewalRow {
  readonly count: string;
  readonly rank: string;
  readonly is_counted: boolean | null;
}

interface GatewayRow {
  readonly id: string;
  readonly epoch: string;
  readonly host: string;
  readonly version: string;
  readonly data_dir: string;
  readonly master_keys: string;
  readonly redis_id: string | null;
  readonly config: string | null;
  readonly leased: string;
  readonly is_live: boolean;
  readonly started_at: string;
  readonly seen_at: string;
  readonly ends_at: string;
}

function toGateway(row: GatewayRow): RegisteredGateway {
  return {
    id: row.id,
    epoch: readInteger(row.epoch),
    host: row.host,
    version: row.version,
    dataDir: row.data_dir,
    isLive: row.is_live,
    startedAt: readInteger(row.started_at),
    seenAt: readInteger(row.seen_at),
    endsAt: readInteger(row.ends_at),
    masterKeys: JSON.parse(row.master_keys) as readonly string[],
    redisId: row.redis_id,
    config: readConfig(row),
    leased: readInteger(row.leased),
  };
}

/** Returns what a gateway reports; null if the report is of another version, because earlier ones do not replace it. */
function readConfig({ config, version }: GatewayRow): GatewayConfig | null {
  if (config === null) return null;
  const { version: ofReport, ...reported } = JSON.parse(config) as GatewayConfig & { version: string };
  return ofReport === version ? reported : null;
}
