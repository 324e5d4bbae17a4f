import { StoreError } from "../../base/failures/store-error.ts";
import type { Clock } from "../../base/time/clock.ts";
import { formatHost, type RedisAddress, type RedisHost } from "./address.ts";
import { RedisConnection } from "./connection.ts";
import type { RedisReply } from "./resp.ts";

/** Settings of a link. */
interface ServerLinkOptions {
  readonly address: RedisAddress;
  readonly host: RedisHost;
  readonly clock: Clock;
  /** Called when a connection that was in use has been lost, and whether it had lasted. */
  readonly onLost: (reason: StoreError, hasLasted: boolean) => void;
}

/** How long a connection may take, with TLS and the sign-in. Milliseconds. */
const CONNECT_MS = 1_000;
/** After this many consecutive commands without an answer, the connection is replaced, because that of a paused server stays open. */
const MAX_UNANSWERED = 3;
/** A connection that is lost sooner has not lasted: a server may accept and close each one. Milliseconds. */
const MIN_LIFE_MS = 1_000;

/** The connection to one server. There is one at a time, and each is used until it is lost; then `connect` opens another one. */
export class ServerLink {
  private connection: RedisConnection | null = null;
  private isReady = false;
  private connecting: Promise<void> | null = null;
  private openedAt = 0;
  private unanswered = 0;
  /** Why the last connection was lost. */
  private lost: StoreError | null = null;

  constructor(private readonly options: ServerLinkOptions) {}

  get host(): RedisHost {
    return this.options.host;
  }

  get name(): string {
    return formatHost(this.options.host);
  }

  /** Resolves when there is a connection. Otherwise rejects within a second with a `StoreError` that says why. */
  connect(): Promise<void> {
    if (this.isReady) return Promise.resolve();
    this.connecting ??= this.open().finally(() => {
      this.connecting = null;
    });
    return this.connecting;
  }

  /** @throws StoreError if the connection has been lost, with the reason. */
  requireConnection(): void {
    if (!this.isReady) throw this.lost ?? new StoreError(`there is no connection to ${this.name}`);
  }

  /** Sends a command. Rejects with a `StoreError`, immediately if there is no connection. */
  send(parts: readonly string[]): Promise<RedisReply> {
    const { connection } = this;
    if (connection === null || !this.isReady)
      return Promise.reject(new StoreError(`there is no connection to ${this.name}`));
    return connection.send(parts);
  }

  /** Called when a command was answered. While others wait, the answer may belong to an earlier one. */
  countAnswered(): void {
    if (this.connection?.isIdle !== false) this.unanswered = 0;
  }

  /** Counts a command that was not answered in time. */
  countUnanswered(): void {
    this.unanswered += 1;
    if (this.unanswered >= MAX_UNANSWERED) this.replace(new StoreError(`${this.name} does not answer`));
  }

  /** Closes the connection, so that another one is opened. */
  replace(reason: StoreError): void {
    this.unanswered = 0;
    if (this.isReady) this.connection?.lose(reason);
  }

  close(): void {
    this.isReady = false;
    this.connection?.close();
    this.connection = null;
  }

  private async open(): Promise<void> {
    const { address, host, clock } = this.options;
    const connection: RedisConnection = new RedisConnection({
      address,
      host,
      onLost: (reason) => this.lose(connection, reason),
    });
    this.connection = connection;
    this.openedAt = clock.now();
    const late = clock.after(CONNECT_MS, () => connection.lose(new StoreError(this.describeSilence())));
    try {
      await connection.ready;
      this.isReady = this.connection === connection;
    } finally {
      late.cancel();
    }
    if (!this.isReady) throw new StoreError(`the connection to ${this.name} was closed`);
  }

  private describeSilence(): string {
    const hint = this.options.address.isTls ? ": use redis:// if the server has no TLS" : "";
    return `${this.name} has not answered for ${CONNECT_MS} ms${hint}`;
  }

  private lose(connection: RedisConnection, reason: StoreError): void {
    if (this.connection !== connection) return;
    this.lost = reason;
    const wasReady = this.isReady;
    this.isReady = false;
    this.connection = null;
    const { clock, onLost } = this.options;
    if (wasReady) onLost(reason, clock.now() - this.openedAt >= MIN_LIFE_MS);
  }
}
