import { StoreError } from "../../base/failures/store-error.ts";
import type { Clock, Timer } from "../../base/time/clock.ts";
import { nextTurn, onNextTurn } from "../../base/time/next-turn.ts";
import { formatHost, parseRedisAddress, type RedisAddress, type RedisHost } from "./address.ts";
import { readSlotMap, type SlotMap, slotOf } from "./cluster-slots.ts";
import { RedisConnection } from "./connection.ts";
import { describeProblem, isOutage, replyOf } from "./describe-problem.ts";
import type { RedisReply } from "./resp.ts";
import { ServerLink } from "./server-link.ts";

/** A Lua script, which the server runs as one step. */
interface RedisScript {
  readonly text: string;
  /** The name under which the server knows it. */
  readonly sha: string;
}

/** The input of a script. All keys have one hash tag. */
interface ScriptInput {
  readonly keys: readonly string[];
  readonly values: readonly (string | number)[];
}

/** A Redis or Valkey server, or a cluster of them. It may be unavailable at any time. */
export interface Redis {
  /**
   * Sends a command and returns its answer: text, integers, lists of them, or null. In a cluster, the command goes to the server of its
   * first value, which must be a key. Rejects with a `StoreError` if the server rejects the command, does not answer within 50 ms, or is
   * unavailable. A rejected command may have been executed, at most once.
   */
  send(command: string, values: readonly string[]): Promise<unknown>;
  /** Runs a script and returns its answer. Rejects like `send`. */
  run(script: RedisScript, input: ScriptInput): Promise<unknown>;
  /** Whether commands are sent. While it is false, all calls fail immediately, and a probe is sent each second. */
  readonly isAvailable: boolean;
  /** Why it is not available, and what to do about it; null while it is. */
  readonly problem: string | null;
  /** Calls `listener` at each change of `isAvailable`. */
  onChange(listener: (isAvailable: boolean) => void): void;
  /**
   * Returns the partition of a key. Keys of one partition may be used in one command: 0 for all keys of a single server, the slot in a
   * cluster.
   */
  partitionOf(key: string): number;
  /** Lists the beginning of a key for each server that has keys, so that the key is on that server. */
  listOwnTags(): readonly string[];
  /** Opens a connection that receives the messages of a channel. `onLost` is called once when it has ended or could not be opened. */
  subscribe(channel: string, onMessage: (message: string) => void, onLost: () => void): RedisSubscription;
  /** Connects and sends the first probe. Resolves when it has an outcome, or after a second. */
  start(): Promise<void>;
  /** Closes all connections. Commands in progress fail. */
  close(): void;
}

/** A connection that receives messages. */
export interface RedisSubscription {
  close(): void;
}

/** Where the server is. */
interface RedisOptions {
  /** See `parseRedisAddress`. */
  readonly url: string;
  readonly clock: Clock;
}

/** Every command is given up after this time. Milliseconds. */
const COMMAND_MS = 50;
/** Turns of the event loop in which an answer is still read after the deadline. */
const LATE_TURNS = 2;
/** How long the first probe is waited for. Milliseconds. */
const START_MS = 1_000;
/** How often a server is probed. Milliseconds. */
const PROBE_MS = 1_000;
/** The number of failures within `FAILURES_MS` at which the server counts as unavailable. */
const FAILURES = 5;
const FAILURES_MS = 1_000;
/** The number of ticks after which an unanswered probe of a server in use has failed. */
const MAX_SILENT_PROBES = 3;
/** The maximum number of commands in progress. Further ones fail immediately. */
const MAX_COMMANDS = 10_000;
/** The commands whose first value is no key. */
const WITHOUT_KEY: ReadonlySet<string> = new Set([
  "PUBLISH",
  "PING",
  "SCRIPT",
  "INFO",
  "TIME",
  "CLUSTER",
  "FLUSHALL",
  "KEYS",
]);

/** Prepares a script. */
export function defineScript(text: string): RedisScript {
  return { text, sha: Bun.SHA1.hash(text, "hex") };
}

/**
 * Returns a client, which connects immediately, and again whenever a connection is lost. The server counts as unavailable until a probe has
 * succeeded.
 * @throws RedisAddressError
 */
export function connectRedis(options: RedisOptions): Redis {
  return new Client(parseRedisAddress(options.url), options.clock);
}

class Client implements Redis {
  isAvailable = false;
  problem: string | null = "it has not answered yet";
  /** By name. A single server has one link. A cluster has one for each master, and for each server that was contacted first. */
  private readonly links = new Map<string, ServerLink>();
  /** Null for a single server. */
  private slots: SlotMap | null = null;
  /** The host of the address that is asked first. */
  private seed = 0;
  private readonly listeners: ((isAvailable: boolean) => void)[] = [];
  private readonly timer: Timer;
  private commands = 0;
  /** When the last commands failed, the oldest first. */
  private failures: number[] = [];
  private probing: Promise<void> | null = null;
  /** Ticks since the probe in progress began, each in a turn of the event loop of its own. */
  private silentTicks = 0;
  private hasTicked = false;
  private isClosed = false;
  /** The time limit of a probe. It is longer at the start, when this process and the server may be busy. Milliseconds. */
  private probeMs = START_MS;

  constructor(
    private readonly address: RedisAddress,
    private readonly clock: Clock,
  ) {
    this.timer = clock.every(PROBE_MS, () => this.tick());
    void this.probe();
  }

  async send(command: string, values: readonly string[]): Promise<unknown> {
    if (!this.isAvailable) throw new StoreError("Redis is away");
    return this.counted(this.linkOf(command, values[0]), [command, ...values]);
  }

  async run({ text, sha }: RedisScript, { keys, values }: ScriptInput): Promise<unknown> {
    if (!this.isAvailable) throw new StoreError("Redis is away");
    const input = [String(keys.length), ...keys, ...values.map(String)];
    const link = this.linkOf("EVALSHA", keys[0]);
    try {
      return await this.counted(link, ["EVALSHA", sha, ...input]);
    } catch (error) {
      if (replyOf(error)?.code !== "NOSCRIPT") throw error;
      return this.counted(this.linkOf("EVAL", keys[0]), ["EVAL", text, ...input]);
    }
  }

  onChange(listener: (isAvailable: boolean) => void): void {
    this.listeners.push(listener);
  }

  partitionOf(key: string): number {
    return this.slots === null ? 0 : slotOf(key);
  }

  listOwnTags(): readonly string[] {
    return this.slots?.ownTags ?? ["{0}"];
  }

  subscribe(channel: string, onMessage: (message: string) => void, onLost: () => void): RedisSubscription {
    const host = this.slots?.masters[0] ?? this.seedHost();
    const connection = new RedisConnection({ address: this.address, host, onMessage, onLost });
    const late = this.clock.after(START_MS, () => connection.lose(new StoreError("it has not answered")));
    connection.ready
      .then(() => connection.send(["SUBSCRIBE", channel]))
      .catch((error) => connection.lose(error))
      .finally(() => late.cancel());
    return connection;
  }

  async start(): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = this.clock.after(START_MS, late.resolve);
    await Promise.race([this.probing, late.promise]);
    timer.cancel();
  }

  close(): void {
    this.isClosed = true;
    this.timer.cancel();
    this.listeners.length = 0;
    this.setAvailable(false);
    for (const link of this.links.values()) link.close();
    this.links.clear();
  }

  /** The server that is contacted first. Once the masters of a cluster are known, they are contacted as well. */
  private seedHost(): RedisHost {
    const hosts = [...this.address.hosts, ...(this.slots?.masters ?? [])];
    return hosts[this.seed % hosts.length] as RedisHost;
  }

  private linkOf(command: string, key: string | undefined): ServerLink {
    const { slots } = this;
    if (slots === null) return this.link(this.seedHost());
    const isKeyed = key !== undefined && !WITHOUT_KEY.has(command);
    const host = slots.masters[isKeyed ? (slots.indexOf[slotOf(key)] ?? -1) : 0];
    if (host === undefined) throw new StoreError("no server of the cluster has this key");
    return this.link(host);
  }

  private link(host: RedisHost): ServerLink {
    const name = formatHost(host);
    let link = this.links.get(name);
    if (link === undefined) {
      link = new ServerLink({
        address: this.address,
        host,
        clock: this.clock,
        onLost: (reason, hasLasted) => this.lose(reason, hasLasted),
      });
      this.links.set(name, link);
    }
    return link;
  }

  /** Checks immediately whether a server whose connection was lost is still there, unless it ends all connections. */
  private lose(reason: StoreError, hasLasted: boolean): void {
    if (this.isClosed) return;
    if (hasLasted) void this.probe();
    else this.setAvailable(false, reason);
  }

  private async counted(link: ServerLink, parts: readonly string[]): Promise<unknown> {
    if (this.commands >= MAX_COMMANDS)
      throw new StoreError(`${MAX_COMMANDS} commands wait for Redis already`);
    this.commands += 1;
    try {
      const command = link.send(parts);
      return await this.answered(
        link,
        this.slots === null ? command : command.catch((error) => this.redirected(link, parts, error)),
      );
    } catch (error) {
      if (isOutage(error)) this.countFailure(error);
      throw error instanceof StoreError ? error : new StoreError(error);
    } finally {
      this.commands -= 1;
    }
  }

  /** Sends a command. If the answer is a redirection, the server has not executed the command, and it is sent again to the named server. */
  private async redirected(link: ServerLink, parts: readonly string[], error: unknown): Promise<RedisReply> {
    const target = readRedirection(replyOf(error)?.message ?? "", link.host);
    if (target === null) throw error;
    const other = this.link(target.host);
    if (target.isFinal) void this.probe(true);
    await other.connect();
    if (target.isFinal) return other.send(parts);
    const [, reply] = await Promise.all([other.send(["ASKING"]), other.send(parts)]);
    return reply;
  }

  /** Resolves or rejects with `command`; rejects with a `StoreError` after the deadline. */
  private answered(
    link: ServerLink,
    command: Promise<RedisReply>,
    withinMs = COMMAND_MS,
  ): Promise<RedisReply> {
    const { promise, resolve, reject } = Promise.withResolvers<RedisReply>();
    let isOver = false;
    const timer = this.clock.after(withinMs, async () => {
      // If this process was busy, the answer may have arrived without being read yet.
      for (let turn = 0; turn < LATE_TURNS && !isOver; turn++) await nextTurn();
      if (isOver) return;
      link.countUnanswered();
      reject(new StoreError(`${link.name} has not answered for ${withinMs} ms`));
    });
    const end = (): void => {
      isOver = true;
      timer.cancel();
      link.countAnswered();
    };
    command.then(
      (reply) => {
        end();
        resolve(reply);
      },
      (error) => {
        end();
        reject(error);
      },
    );
    return promise;
  }

  private countFailure(error: unknown): void {
    const now = this.clock.now();
    this.failures = [...this.failures.filter((at) => at > now - FAILURES_MS), now];
    if (this.failures.length >= FAILURES) this.setAvailable(false, error);
  }

  /** Sends probes to the servers. A probe that is not answered for several ticks has failed. */
  private tick(): void {
    // Several ticks in one turn only mean that this process was busy.
    if (this.hasTicked) return;
    this.hasTicked = true;
    onNextTurn(() => {
      this.hasTicked = false;
    });
    if (this.probing === null) {
      void this.probe();
      return;
    }
    this.silentTicks += 1;
    if (this.silentTicks < MAX_SILENT_PROBES) return;
    this.silentTicks = 0;
    const problem = new StoreError("it does not answer");
    for (const link of this.links.values()) link.replace(problem);
    this.setAvailable(false, problem);
  }

  /** Probes whether all servers accept writes: full servers and replicas only answer reads. */
  private probe(isMoved = false): Promise<void> {
    if (isMoved && this.probing !== null) return this.probing;
    this.probing ??= this.examine(isMoved)
      .finally(() => {
        this.probeMs = COMMAND_MS;
      })
      .then(
        () => this.setAvailable(!this.isClosed),
        (error: unknown) => this.failProbe(error),
      )
      .finally(() => {
        this.probing = null;
        this.silentTicks = 0;
      });
    return this.probing;
  }

  private failProbe(error: unknown): void {
    this.seed += 1;
    this.setAvailable(false, error);
  }

  private async examine(isMoved: boolean): Promise<void> {
    const isBack = !this.isAvailable;
    if (isBack || isMoved) await this.readSlots();
    const hosts = this.slots?.masters ?? [this.seedHost()];
    const tags = this.listOwnTags();
    await Promise.all(
      hosts.map(async (host, at) => {
        const link = this.link(host);
        await link.connect();
        const answer = link.send(["SET", `gateway:probe:${tags[at]}`, "1", "PX", "1000"]);
        // A server that is slow stays in use until commands fail, and comes back only when it is quick.
        await (isBack ? this.answered(link, answer, this.probeMs) : answer);
        // The data after the answer may have ended the connection.
        link.requireConnection();
      }),
    );
  }

  /** Finds out whether the address is a cluster's, and which server has which keys. */
  private async readSlots(): Promise<void> {
    const link = this.link(this.seedHost());
    await link.connect();
    try {
      const answer = await this.answered(link, link.send(["CLUSTER", "SLOTS"]), this.probeMs);
      const slots = readSlotMap(answer, link.host);
      this.slots = slots.masters.length === 0 ? null : slots;
      this.dropLinks();
    } catch (error) {
      if (isOutage(error)) throw error;
      // A single server, or one that does not report its slots.
      this.slots = null;
    }
    if (this.slots === null && this.address.hosts.length > 1)
      throw new StoreError(
        `${link.name} is no member of a Redis Cluster, and only a cluster has several addresses: name one server in redis.url`,
      );
  }

  /** Closes the connections to servers that have left the cluster. */
  private dropLinks(): void {
    const used = new Set([...(this.slots?.masters ?? []), ...this.address.hosts].map(formatHost));
    for (const [name, link] of this.links) {
      if (used.has(name)) continue;
      link.close();
      this.links.delete(name);
    }
  }

  private setAvailable(isAvailable: boolean, error: unknown = null): void {
    this.problem = isAvailable ? null : describeProblem(error ?? "it was closed");
    if (this.isAvailable === isAvailable) return;
    this.isAvailable = isAvailable;
    this.failures = [];
    for (const listener of this.listeners) listener(isAvailable);
  }
}

interface Redirection {
  readonly host: RedisHost;
  /** Whether the other server has the slot from now on, or only for this command. */
  readonly isFinal: boolean;
}

/** Reads `MOVED 3999 127.0.0.1:6381` and `ASK 3999 127.0.0.1:6381`. A missing host means the server that answered. */
function readRedirection(message: string, asked: RedisHost): Redirection | null {
  const [, kind, name, port] = /^(MOVED|ASK) \d+ (.*):(\d+)$/.exec(message) ?? [];
  if (kind === undefined) return null;
  const host = name === "" || name === undefined ? (asked.host ?? "127.0.0.1") : name;
  return { host: { host, port: Number(port), path: null }, isFinal: kind === "MOVED" };
}
