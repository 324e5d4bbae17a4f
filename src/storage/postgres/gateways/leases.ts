import type { Lease, LeaseRequest, Leases } from "../../../base/time/lease.ts";
import { readInteger } from "../../sql/statements/values.ts";
import type { Postgres } from "../connection/client.ts";

/** A row of `task_leases`; the time is milliseconds since the epoch. */
interface LeaseRow {
  readonly number: string;
  readonly ends_at: string;
}

const RETURNED = "number, floor(extract(epoch FROM ends_at) * 1000)::bigint AS ends_at";

/** Leases of the processes that share a database, by its clock. A lease whose owner has died ends at its time. */
export class PostgresLeases implements Leases {
  constructor(private readonly database: Postgres) {}

  async acquire({ name, owner, durationMs }: LeaseRequest): Promise<Lease | null> {
    const [row] = await this.database.run<LeaseRow>(
      `INSERT INTO task_leases AS held (name, owner, ends_at)
       VALUES ($1, $2, clock_timestamp() + $3::float8 * interval '1 millisecond')
       ON CONFLICT (name) DO UPDATE
         SET owner = excluded.owner, number = excluded.number, ends_at = excluded.ends_at
         WHERE held.ends_at <= clock_timestamp()
       RETURNING ${RETURNED}`,
      [name, owner, durationMs],
    );
    return row === undefined ? null : new PostgresLease(this.database, { name, owner }, row);
  }
}

class PostgresLease implements Lease {
  readonly name: string;
  readonly owner: string;
  endsAt: number;
  private readonly number: string;

  constructor(
    private readonly database: Postgres,
    { name, owner }: Pick<LeaseRequest, "name" | "owner">,
    row: LeaseRow,
  ) {
    this.name = name;
    this.owner = owner;
    this.number = row.number;
    this.endsAt = readInteger(row.ends_at);
  }

  async renew(durationMs: number): Promise<boolean> {
    const [row] = await this.database.run<LeaseRow>(
      `UPDATE task_leases SET ends_at = clock_timestamp() + $3::float8 * interval '1 millisecond'
       WHERE name = $1 AND number = $2 AND ends_at > clock_timestamp()
       RETURNING ${RETURNED}`,
      [this.name, this.number, durationMs],
    );
    if (row !== undefined) this.endsAt = readInteger(row.ends_at);
    return row !== undefined;
  }

  async release(): Promise<void> {
    await this.database.run("DELETE FROM task_leases WHERE name = $1 AND number = $2", [
      this.name,
      this.number,
    ]);
  }
}
