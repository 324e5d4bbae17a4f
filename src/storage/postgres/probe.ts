import type { VersionedGateway } from "../../core/gateways/newer-rows.ts";
import { connectPostgres, type PostgresOptions } from "./connection/client.ts";
import { gateways as gatewaysStep } from "./migrations/0003-gateways.ts";
import { MIGRATIONS } from "./migrations/list.ts";
import { type PostgresSchema, readSchema } from "./migrations/migrate.ts";

/** The facts that a PostgreSQL server reports about itself. */
export interface PostgresProbe {
  /** The version of the server, such as `17.2`. */
  readonly version: string;
  readonly majorVersion: number;
  /** Whether it accepts no changes, as a standby or because of its settings. */
  readonly isReadOnly: boolean;
  /** By how much the clock of the server is ahead of this machine's. Milliseconds. */
  readonly clockSkewMs: number;
  readonly schema: PostgresSchema;
  /** The schema version that this program needs. */
  readonly neededSchema: number;
  /** The gateways that are registered. */
  readonly gateways: readonly VersionedGateway[];
}

/** The longest time for a statement. Milliseconds. */
const STATEMENT_MS = 3_000;

/** Reads facts about a PostgreSQL server without changing anything. Rejects with a `StoreError` within a few seconds if it is unavailable. */
export async function probePostgres(
  options: Pick<PostgresOptions, "url" | "isPooled" | "clock">,
): Promise<PostgresProbe> {
  const { clock } = options;
  const database = connectPostgres({ ...options, maxConnections: 1, statementMs: STATEMENT_MS });
  try {
    // Opens the connection, whose time would count as a difference of the clocks.
    const schema = await readSchema(database);
    const before = clock.now();
    const [row] = await database.run<Answer>(
      `SELECT current_setting('server_version') AS version, current_setting('server_version_num') AS number,
              current_setting('transaction_read_only') = 'on' AS is_read_only,
              (extract(epoch FROM clock_timestamp()) * 1000)::bigint::text AS now`,
    );
    const { version = "", number = "0", is_read_only = false, now = "0" } = row ?? {};
    const clockSkewMs = Math.round(Number(now) - (before + clock.now()) / 2);
    const hasGateways = MIGRATIONS.slice(0, schema.version).includes(gatewaysStep);
    const gateways = hasGateways ? await database.run<VersionedGateway>(GATEWAYS) : [];
    const majorVersion = Math.floor(Number(number) / 10_000);
    return {
      version,
      majorVersion,
      isReadOnly: is_read_only,
      clockSkewMs,
      schema,
      neededSchema: MIGRATIONS.length,
      gateways,
    };
  } finally {
    await database.close();
  }
}

const GATEWAYS = "SELECT id, host, version FROM gateways ORDER BY id";

interface Answer {
  readonly version: string;
  readonly number: string;
  readonly is_read_only: boolean;
  readonly now: string;
}
