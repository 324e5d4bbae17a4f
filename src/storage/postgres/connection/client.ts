import { SQL } from "bun";
import { StoreError } from "../../../base/failures/store-error.ts";
import type { Clock } from "../../../base/time/clock.ts";
import { type DatabaseUrl, isSocket, parseDatabaseUrl } from "./database-url.ts";
import { explainConnection } from "./explain-connection.ts";

/** A value of a statement. A list is encoded by `encodeList`, and cast in the statement: `$1::text::bigint[]`. */
export type PostgresValue = string | number | boolean | null | Uint8Array;

/** Runs statements: on any connection of a pool, or in one transaction. */
export interface SqlRunner {
  /**
   * Runs one statement with the values of `$1`, `$2` … and returns its rows by column; `bigint` and `numeric` are strings. U+0000
   * in a value becomes U+FFFD. Rejects with a `StoreError` if the statement fails or has no result within the deadline.
   */
  run<Row extends object>(text: string, values?: readonly PostgresValue[]): Promise<readonly Row[]>;
}

/** Connections to a PostgreSQL database. */
export interface Postgres extends SqlRunner {
  /**
   * Runs `work` in a transaction, which commits when `work` resolves and rolls back when it rejects. Rejects with what `work` rejects
   * with, or with a `StoreError` if the database fails. A failed commit may have been committed: `work` must be safe to repeat.
   */
  transaction<Result>(work: (sql: SqlRunner) => Promise<Result>): Promise<Result>;
  /**
   * Calls `onNotification` with the payload of each notification on a channel, over a connection of its own. Notifications are lost
   * while that connection is. Rejects if it cannot be opened.
   */
  listen(channel: string, onNotification: (payload: string) => void): Promise<Subscription>;
  /** Closes all connections. Statements in progress fail. */
  close(): Promise<void>;
}

/** The notifications of one channel. */
export interface Subscription {
  end(): Promise<void>;
}

/** How to connect. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, as `parseDatabaseUrl` reads it. */
  readonly url: string;
  readonly maxConnections: number;
  /** Behind PgBouncer in transaction mode: no prepared statements, no parameters at the start of a connection. */
  readonly isPooled: boolean;
  readonly clock: Clock;
  /** The server cancels a statement after this time, unless connections are pooled. Milliseconds; default 5,000. */
  readonly statementMs?: number;
}

const STATEMENT_MS = 5_000;
/** How long after its statement's time limit a call is given up. A paused server neither answers nor closes its connections. Milliseconds. */
const ANSWER_MS = 1_000;
/** The time limit of a transaction is that of one statement times this number. */
const TRANSACTION_STATEMENTS = 3;
/**
 * How long the server lets a transaction wait for its next statement before it ends it. Otherwise a process that is paused, or whose
 * connection has broken unnoticed by the server, would keep its locks, and others could not even start. Milliseconds.
 */
const IDLE_MS = 10_000;
const CONNECT_S = 3;
/** The maximum number of calls in progress, most of which wait for a connection. Further calls fail immediately. */
const MAX_CALLS = 1_000;
/** The number of consecutive calls without an answer after which all connections are replaced. */
const MAX_UNANSWERED = 3;

/** Connects to PostgreSQL when the first statement runs, and again after a connection was lost. */
export function connectPostgres(options: PostgresOptions): Postgres {
  return new BunPostgres(options);
}

/**
 * The connections of Bun's client. The client has no deadlines, and a lost connection loses its session state: no caller may use `SET`,
 * session locks or temporary tables.
 */
class BunPostgres implements Postgres {
  private pool: SQL;
  private calls = 0;
  private unanswered = 0;
  private readonly listeners = new Set<SQL>();
  private readonly callMs: number;
  private readonly transactionMs: number;

  constructor(private readonly options: PostgresOptions) {
    const statementMs = options.statementMs ?? STATEMENT_MS;
    this.callMs = statementMs + ANSWER_MS;
    this.transactionMs = statementMs * TRANSACTION_STATEMENTS;
    this.pool = openPool(options);
  }

  run<Row extends object>(text: string, values: readonly PostgresValue[] = []): Promise<readonly Row[]> {
    return this.counted(() => this.query<Row>(this.pool, text, values));
  }

  transaction<Result>(work: (sql: SqlRunner) => Promise<Result>): Promise<Result> {
    const begin = () =>
      this.pool.begin((connection) =>
        work({ run: (text, values = []) => this.query(connection, text, values) }),
      );
    return this.counted(() => this.answered(begin(), this.transactionMs));
  }

  async listen(channel: string, onNotification: (payload: string) => void): Promise<Subscription> {
    // A pool of its own, because the other one may be replaced.
    const connection = openPool({ ...this.options, maxConnections: 1 });
    this.listeners.add(connection);
    const end = async (): Promise<void> => {
      this.listeners.delete(connection);
      await connection.close({ timeout: 0 });
    };
    try {
      await this.answered(
        connection.listen(channel, onNotification).then(() => {}),
        this.callMs,
      );
      return { end };
    } catch (error) {
      await end();
      throw error;
    }
  }

  async close(): Promise<void> {
    const pools = [this.pool, ...this.listeners];
    await Promise.all(pools.map((pool) => pool.close({ timeout: 0 })));
  }

  private async counted<Result>(call: () => Promise<Result>): Promise<Result> {
    if (this.calls >= MAX_CALLS) throw new StoreError(`${MAX_CALLS} calls wait for the database already`);
    this.calls += 1;
    try {
      return await call();
    } finally {
      this.calls -= 1;
    }
  }

  private query<Row extends object>(
    connection: SQL,
    text: string,
    values: readonly PostgresValue[],
  ): Promise<readonly Row[]> {
    const query = connection.unsafe<Row[]>(text, values.map(encodeValue));
    return this.answered(query, this.callMs, () => query.cancel());
  }

  /** Resolves or rejects with `call`; rejects after `ms` with a `StoreError`, and calls `giveUp`. */
  private async answered<Result>(call: Promise<Result>, ms: number, giveUp?: () => void): Promise<Result> {
    const late = Promise.withResolvers<never>();
    const timer = this.options.clock.after(ms, () => {
      late.reject(new StoreError(`the database has not answered for ${ms} ms`));
      giveUp?.();
      this.countUnanswered();
    });
    try {
      const result = await Promise.race([call, late.promise]);
      this.unanswered = 0;
      return result;
    } catch (error) {
      // A call that was given up fails when its connection is closed.
      call.catch(() => {});
      throw this.explain(error);
    } finally {
      timer.cancel();
    }
  }

  /** Turns a failure of the client into one of the store. Other errors come from the work of a transaction and are returned unchanged. */
  private explain(error: unknown): unknown {
    const reason = explainConnection(error, this.options.url);
    if (reason !== null) return new StoreError(reason);
    return error instanceof SQL.PostgresError ? new StoreError(error) : error;
  }

  /** Replaces the connections of a server that does not answer: they may stay open for minutes. */
  private countUnanswered(): void {
    this.unanswered += 1;
    if (this.unanswered < MAX_UNANSWERED) return;
    this.unanswered = 0;
    const stuck = this.pool;
    this.pool = openPool(this.options);
    stuck.close({ timeout: 0 }).catch(() => {});
  }
}

function openPool({ url, maxConnections, isPooled, statementMs = STATEMENT_MS }: PostgresOptions): SQL {
  const target = parseDatabaseUrl(url);
  const { host, port, user, password, database, channelBinding, settings } = target;
  const place = isSocket(host) ? { path: `${host}/.s.PGSQL.${port}` } : { hostname: host, port };
  return withoutVariables(
    () =>
      new SQL({
        adapter: "postgres",
        url: `postgres://gateway?${describeTls(target)}`,
        ...place,
        username: user,
        ...(password === null ? {} : { password }),
        database,
        channelBinding,
        max: maxConnections,
        connectionTimeout: CONNECT_S,
        prepare: !isPooled,
        connection: isPooled ? settings : { ...describeConnection(statementMs), ...settings },
      } as SQL.Options),
  );
}

/** The TLS parameters of Bun's client. It reads the mode and the certificate files only from a URL. */
function describeTls({ tls }: DatabaseUrl): string {
  const parameters = new URLSearchParams({ sslmode: tls.mode, ...tls.files });
  if (tls.passphrase !== null) parameters.set("sslpassword", tls.passphrase);
  return parameters.toString();
}

/** Variables that Bun's client reads for values that it is not given. It reads the database and session settings from them in any case. */
const VARIABLE = /^PG/;

/** Creates a client that no variable of libpq changes. It reads them while it is created. */
function withoutVariables<Client>(create: () => Client): Client {
  const names = Object.keys(process.env).filter((name) => VARIABLE.test(name));
  const hidden = names.map((name) => [name, process.env[name]] as const);
  for (const name of names) delete process.env[name];
  try {
    return create();
  } finally {
    for (const [name, value] of hidden) process.env[name] = value;
  }
}

function describeConnection(statementMs: number) {
  return {
    application_name: "gateway",
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: IDLE_MS,
    // Statements over many partitions look expensive, and compiling them takes longer than running them.
    jit: "off",
  };
}

/** Returns the SQLSTATE code that the server gave as the reason of an error; null for any other error. */
export function sqlStateOf(error: unknown): string | null {
  const cause = error instanceof StoreError ? error.cause : error;
  return cause instanceof SQL.PostgresError && typeof cause.errno === "string" ? cause.errno : null;
}

/** PostgreSQL does not allow U+0000 in text: a client could make a statement fail with it. */
function encodeValue(value: PostgresValue): PostgresValue {
  return typeof value === "string" && value.includes("\0") ? value.replaceAll("\0", "\ufffd") : value;
}

/** Encodes a list as one value, in PostgreSQL's text form of an array. */
export function encodeList(values: readonly (string | number | boolean | null)[]): string {
  return `{${values.map(encodeElement).join(",")}}`;
}

function encodeElement(value: string | number | boolean | null): string {
  if (value === null) return "NULL";
  if (typeof value !== "string") return String(value);
  return SPECIAL.test(value) ? `"${value.replace(/["\\]/g, "\\$&")}"` : `"${value}"`;
}

const SPECIAL = /["\\]/;
