import { RedisClient } from "bun";
import type { Clock, Timer } from "../../base/clock.ts";
import { nextTurn } from "../../base/next-turn.ts";
import { StoreError } from "../../base/store-error.ts";

/** A Lua script, which the server runs as one step. */
export interface RedisScript {
  readonly text: string;
  /** The name under which the server knows it. */
  readonly sha: string;
}

/** What a script is called with. */
export interface ScriptInput {
  readonly keys: readonly string[];
  readonly values: readonly (string | number)[];
}

/** A connection to a Redis or Valkey server, which may be away at any time. */
export interface Redis {
  /**
   * Sends a command and returns its answer: text, integers, lists of them, or null. Rejects with a `StoreError` if the server rejects
   * it, does not answer within 50 ms, or is away. A rejected command may have been executed, at most once.
   */
  send(command: string, values: readonly string[]): Promise<unknown>;
  /** Runs a script and returns its answer. Rejects like `send`. */
  run(script: RedisScript, input: ScriptInput): Promise<unknown>;
  /** Whether commands are sent. While it is false, all calls fail at once, and a probe is sent each second. */
  readonly isAvailable: boolean;
  /** Calls `listener` at each change of `isAvailable`. */
  onChange(listener: (isAvailable: boolean) => void): void;
  /** Sends the first probe. Resolves when it has an outcome, or after a second. */
  start(): Promise<void>;
  /** Closes the connection. Commands in progress fail. */
  close(): void;
}

/** Where the server is. */
export interface RedisOptions {
  /** `redis://[user:password@]host:port[/database]`, or `rediss://` for TLS. */
  readonly url: string;
  readonly clock: Clock;
}

/** Every command is given up after this time. Milliseconds. */
const COMMAND_MS = 50;
/** Turns of the event loop in which an answer is still read after the deadline. */
const LATE_TURNS = 2;
/** How long a connection may take. Milliseconds. */
const CONNECT_MS = 1_000;
/** How often a server that is away is asked whether it is back. Milliseconds. */
const PROBE_MS = 1_000;
/** So many failures within `FAILURES_MS` mean that the server is away. */
const FAILURES = 5;
const FAILURES_MS = 1_000;
/** After so many consecutive commands without an answer, the connection is replaced: that of a paused server stays open. */
const MAX_UNANSWERED = 3;
/** Commands in progress. Beyond it they fail at once. */
const MAX_COMMANDS = 10_000;
/** A write, because a server that is full or a replica answers reads only. */
const PROBE = ["SET", "gateway:probe", "1", "PX", "1000"] as const;

/** Prepares a script. */
export function defineScript(text: string): RedisScript {
  return { text, sha: Bun.SHA1.hash(text, "hex") };
}

/** Connects to a server, and again whenever the connection is lost. The server counts as away until `start` or a probe finds it. */
export function connectRedis(options: RedisOptions): Redis {
  return new BunRedis(options);
}

/**
 * Opens a connection of Bun's client. Its defaults would store commands while the server is away and execute them later, and would
 * give up for ever after half a minute.
 */
export function openConnection(url: string, autoReconnect: boolean): RedisClient {
  return new RedisClient(url, {
    enableOfflineQueue: false,
    connectionTimeout: CONNECT_MS,
    autoReconnect,
    maxRetries: 1_000_000_000,
  });
}

class BunRedis implements Redis {
  isAvailable = false;
  private connection: RedisClient;
  /** Resolves when a new connection was probed. */
  private connected: Promise<void> = Promise.resolve();
  private readonly listeners: ((isAvailable: boolean) => void)[] = [];
  private readonly probes: Timer;
  private commands = 0;
  private unanswered = 0;
  /** When the last commands failed, the oldest first. */
  private failures: number[] = [];
  private probing: Promise<void> | null = null;

  constructor(private readonly options: RedisOptions) {
    this.connection = this.open();
    this.probes = options.clock.every(PROBE_MS, () => void this.probe());
  }

  async send(command: string, values: readonly string[]): Promise<unknown> {
    if (!this.isAvailable) throw new StoreError("Redis is away");
    return this.counted(command, values);
  }

  async run({ text, sha }: RedisScript, { keys, values }: ScriptInput): Promise<unknown> {
    const input = [String(keys.length), ...keys, ...values.map(String)];
    try {
      return await this.send("EVALSHA", [sha, ...input]);
    } catch (error) {
      if (!isReply(error, "NOSCRIPT")) throw error;
      return this.send("EVAL", [text, ...input]);
    }
  }

  onChange(listener: (isAvailable: boolean) => void): void {
    this.listeners.push(listener);
  }

  async start(): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = this.options.clock.after(CONNECT_MS, late.resolve);
    await Promise.race([this.connected, late.promise]);
    timer.cancel();
  }

  close(): void {
    this.probes.cancel();
    this.listeners.length = 0;
    this.setAvailable(false);
    this.connection.onconnect = null;
    this.connection.close();
  }

  private open(): RedisClient {
    const connection = openConnection(this.options.url, true);
    connection.onconnect = () => void this.probe();
    this.connected = connection.connect().then(
      () => this.probe(),
      () => {},
    );
    return connection;
  }

  private async counted(command: string, values: readonly string[]): Promise<unknown> {
    if (this.commands >= MAX_COMMANDS)
      throw new StoreError(`${MAX_COMMANDS} commands wait for Redis already`);
    this.commands += 1;
    try {
      const answer = await this.answered(this.connection.send(command, [...values]));
      this.unanswered = 0;
      return answer;
    } catch (error) {
      if (!isReply(error, "NOSCRIPT")) this.countFailure();
      throw error instanceof StoreError ? error : new StoreError(error);
    } finally {
      this.commands -= 1;
    }
  }

  /** Resolves or rejects with `command`; rejects with a `StoreError` after the deadline. */
  private answered(command: Promise<unknown>): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    let isOver = false;
    const timer = this.options.clock.after(COMMAND_MS, async () => {
      // If this process was busy, the answer may be there and only not be read yet.
      for (let turn = 0; turn < LATE_TURNS && !isOver; turn++) await nextTurn();
      if (isOver) return;
      this.countUnanswered();
      reject(new StoreError(`Redis has not answered for ${COMMAND_MS} ms`));
    });
    command.then(resolve, reject).finally(() => {
      isOver = true;
      timer.cancel();
    });
    return promise;
  }

  private countUnanswered(): void {
    this.unanswered += 1;
    if (this.unanswered < MAX_UNANSWERED) return;
    this.unanswered = 0;
    const stuck = this.connection;
    stuck.onconnect = null;
    this.connection = this.open();
    stuck.close();
  }

  private countFailure(): void {
    const now = this.options.clock.now();
    this.failures = [...this.failures.filter((at) => at > now - FAILURES_MS), now];
    if (this.failures.length >= FAILURES) this.setAvailable(false);
  }

  /** Asks a server that is away whether it is back. */
  private probe(): Promise<void> {
    if (this.isAvailable) return Promise.resolve();
    const [command, ...values] = PROBE;
    this.probing ??= this.counted(command, values).then(
      () => this.endProbe(true),
      () => this.endProbe(false),
    );
    return this.probing;
  }

  private endProbe(isAvailable: boolean): void {
    this.probing = null;
    if (isAvailable) this.setAvailable(true);
  }

  private setAvailable(isAvailable: boolean): void {
    if (this.isAvailable === isAvailable) return;
    this.isAvailable = isAvailable;
    this.failures = [];
    for (const listener of this.listeners) listener(isAvailable);
  }
}

/** Returns whether an error is the server's answer with this code. */
function isReply(error: unknown, code: string): boolean {
  const cause = error instanceof StoreError ? error.cause : error;
  return cause instanceof Error && cause.message.startsWith(code);
}
