import { type GatewayIdentity, GatewayReplacedError } from "../../core/gateways/gateway-identity.ts";
import {
  GATEWAY_LEASE_MS,
  type GatewayDescription,
  type GatewayRegistry,
  type GatewayShare,
  type RegisteredGateway,
  type ReleasedLease,
} from "../../core/gateways/gateway-registry.ts";
import type { Postgres } from "./client.ts";
import { readInteger } from "./values.ts";

const NEXT_END = `clock_timestamp() + ${GATEWAY_LEASE_MS} * interval '1 millisecond'`;
const millisecondsOf = (column: string): string =>
  `floor(extract(epoch FROM ${column}) * 1000)::bigint AS ${column}`;

/** The gateways that share a database, by its clock. */
export class PostgresGatewayRegistry implements GatewayRegistry {
  constructor(private readonly database: Postgres) {}

  async register({ id, host, version, dataDir }: GatewayDescription): Promise<GatewayIdentity> {
    const [row] = await this.database.run<{ epoch: string }>(
      `INSERT INTO gateways (id, started_at, seen_at, ends_at, host, version, data_dir)
       VALUES ($1, clock_timestamp(), clock_timestamp(), ${NEXT_END}, $2, $3, $4)
       ON CONFLICT (id) DO UPDATE SET
         epoch = excluded.epoch, started_at = excluded.started_at, seen_at = excluded.seen_at,
         ends_at = excluded.ends_at, host = excluded.host, version = excluded.version,
         data_dir = excluded.data_dir
       RETURNING epoch`,
      [id, host, version, dataDir],
    );
    return { id, epoch: readInteger((row as { epoch: string }).epoch) };
  }

  async renew(identity: GatewayIdentity): Promise<GatewayShare> {
    const [row] = await this.database.run<{ renewed: string; count: string; rank: string }>(
      `WITH renewed AS (
         UPDATE gateways SET seen_at = clock_timestamp(), ends_at = ${NEXT_END}
         WHERE id = $1 AND epoch = $2 RETURNING id)
       SELECT (SELECT count(*) FROM renewed) AS renewed,
         count(*) AS count, count(*) FILTER (WHERE id < $1) AS rank
       FROM gateways WHERE id = $1 OR ends_at > clock_timestamp()`,
      [identity.id, identity.epoch],
    );
    if (row === undefined || row.renewed !== "1") throw new GatewayReplacedError(identity);
    return { count: readInteger(row.count), rank: readInteger(row.rank) };
  }

  async end({ id, epoch }: GatewayIdentity): Promise<void> {
    await this.database.run("DELETE FROM gateways WHERE id = $1 AND epoch = $2", [id, epoch]);
  }

  async list(): Promise<readonly RegisteredGateway[]> {
    const rows = await this.database.run<GatewayRow>(
      `SELECT id, epoch, host, version, data_dir, ends_at > clock_timestamp() AS is_live,
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

  async releaseLeases(_identity: GatewayIdentity): Promise<readonly ReleasedLease[]> {
    return [];
  }
}

interface GatewayRow {
  readonly id: string;
  readonly epoch: string;
  readonly host: string;
  readonly version: string;
  readonly data_dir: string;
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
    leased: 0,
  };
}
