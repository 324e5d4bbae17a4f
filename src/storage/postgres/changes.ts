import type { ChangeSource } from "../../core/gateways/change-source.ts";
import type { KnownRevisions, RevisionName } from "../sql/statements/database.ts";
import { readInteger } from "../sql/statements/values.ts";
import type { Postgres, Subscription } from "./connection/client.ts";

/** A change takes effect everywhere within a second: the time until the next reading, and the time that the reading takes. */
const PERIOD_MS = 500;
/** The channel on which triggers announce changes, with the name of the table. */
const CHANNEL = "gateway_changes";
/** If listening has failed, the number of readings until the next try. */
const READINGS_BEFORE_RETRY = 20;

/** The revision `wanted` is the number of requests of gateways for money that others have leased. */
const READ = `SELECT name, revision FROM revisions
  UNION ALL SELECT 'wanted', count(*) FROM wanted_leases`;

/** The revisions of a database, read by one statement for all caches. */
export class PostgresChanges implements ChangeSource, KnownRevisions {
  readonly periodMs = PERIOD_MS;
  private revisions: ReadonlyMap<string, number> = new Map();
  private listeners: ((isAboutGateways: boolean) => void)[] = [];
  private subscription: Promise<Subscription | null> | null = null;
  private readings = 0;

  /** `isListening`: whether the connections of the database can receive notifications. Those of PgBouncer cannot. */
  constructor(
    private readonly database: Pick<Postgres, "run" | "listen">,
    private readonly isListening: boolean,
  ) {}

  /** Returns a revision at the last reading; null before the first. */
  revisionOf(name: RevisionName | "wanted"): number | null {
    return this.revisions.get(name) ?? null;
  }

  async read(): Promise<void> {
    const rows = await this.database.run<{ name: string; revision: string }>(READ);
    this.revisions = new Map(rows.map(({ name, revision }) => [name, readInteger(revision)]));
    this.readings += 1;
    if (this.readings % READINGS_BEFORE_RETRY === 0) this.subscribe();
  }

  listen(onHint: (isAboutGateways: boolean) => void): void {
    this.listeners.push(onHint);
    this.subscribe();
  }

  /** Ends the subscription. */
  async close(): Promise<void> {
    this.listeners = [];
    await (await this.subscription)?.end();
  }

  private subscribe(): void {
    if (!this.isListening || this.listeners.length === 0) return;
    this.subscription ??= this.database
      .listen(CHANNEL, (table) => {
        for (const listener of this.listeners) listener(table === "gateways");
      })
      .catch(() => {
        // The regular readings continue without it.
        this.subscription = null;
        return null;
      });
  }
}
