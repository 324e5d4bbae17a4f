import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { databaseVariables, dropDatabases } from "../databases/test-databases.ts";
import { findTempRoot } from "../temp-root.ts";

/** A gateway in its own process, started as an operator starts it. */
export interface GatewayProcess {
  readonly url: string;
  /** An inference key: the one that this start printed, or that of an earlier start. */
  readonly key: string;
  /** The output so far, of standard output and standard error. */
  readonly printed: () => string;
  readonly pid: number;
  /** Resolves with the exit code when the process has ended, for whatever reason. */
  readonly exited: Promise<number>;
  /** Kills it immediately, as in a crash. */
  kill(): Promise<void>;
  /** Stops it until `resume`, as a machine that hangs. */
  suspend(): void;
  resume(): void;
  /** Sends SIGTERM, and resolves with the exit code. */
  terminate(): Promise<number>;
}

/** A data directory with its configuration file. */
export interface Site {
  readonly dataDir: string;
  /** The configuration file, for tests that change it. */
  readonly configFile: string;
  /** Starts a gateway in it. `key` is that of an earlier start. */
  start(key?: string): Promise<GatewayProcess>;
  /** Starts a gateway that must fail to start. Resolves with its exit code and output. */
  startExpectingFailure(): Promise<{ readonly exitCode: number; readonly printed: string }>;
  /** Starts a gateway and kills it after `afterMs`, at an arbitrary point of its start. */
  startAndKill(afterMs: number): Promise<void>;
  /** Lists the files of the journal that are not empty. */
  journalFiles(): readonly string[];
  remove(): void;
}

const ROOT = join(import.meta.dir, "../../..");

/** The command that operators run: the built program, which starts in half the time, or the sources if one of them is newer. */
export const AS_SHIPPED: readonly string[] = [join(ROOT, "bin/gateway")];

/** A command without its subcommand. */
type Command = readonly string[] | (() => readonly string[]);

/** Creates an installation from the text of a configuration file. `command` starts its gateways; it may change between starts. */
export function makeSite(yaml: string, command: Command = AS_SHIPPED): Site {
  const dir = mkdtempSync(join(findTempRoot(), "gateway-site-"));
  const dataDir = join(dir, "data");
  const configFile = join(dir, "gateway.yaml");
  writeFileSync(configFile, yaml);
  const spawn = async () =>
    new Spawned(isFixed(command) ? command : command(), dir, {
      GATEWAY_CONFIG: configFile,
      GATEWAY_DATA_DIR: dataDir,
      ...(await databaseVariables(dataDir)),
    });
  return {
    dataDir,
    configFile,
    async start(key) {
      const process = await spawn();
      await process.listening();
      return process.asGateway(key);
    },
    async startExpectingFailure() {
      const process = await spawn();
      const exitCode = await process.exited;
      return { exitCode, printed: process.printed };
    },
    async startAndKill(afterMs) {
      const process = await spawn();
      await Bun.sleep(afterMs);
      await process.kill();
    },
    journalFiles() {
      const journal = join(dataDir, "journal");
      return readdirSync(journal)
        .map((name) => join(journal, name))
        .filter((file) => readFileSync(file).length > 0);
    },
    remove() {
      rmSync(dir, { recursive: true, force: true });
      // Nothing waits for it: the server is removed after the tests.
      dropDatabases(dir).catch(() => {});
    },
  };
}

function isFixed(command: Command): command is readonly string[] {
  return typeof command !== "function";
}

class Spawned {
  printed = "";
  private readonly child: Bun.Subprocess<"ignore", "pipe", "pipe">;
  private readonly reading: Promise<void>[];
  private change = Promise.withResolvers<void>();

  constructor(command: readonly string[], dir: string, environment: Readonly<Record<string, string>>) {
    this.child = Bun.spawn([...command, "start"], {
      cwd: dir,
      env: {
        PATH: process.env["PATH"] ?? "",
        GATEWAY_PORT: "0",
        ...environment,
      },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    this.reading = [this.read(this.child.stdout), this.read(this.child.stderr)];
  }

  get exited(): Promise<number> {
    return Promise.all([this.child.exited, ...this.reading]).then(([exitCode]) => exitCode);
  }

  async listening(): Promise<void> {
    // With this line the gateway has recorded that its keys were shown.
    while (this.url === undefined || !this.printed.includes('"message":"listening"')) {
      if (this.child.exitCode !== null) throw new Error(`the gateway did not start: ${this.printed}`);
      await Promise.race([this.change.promise, this.child.exited]);
    }
  }

  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.child.exited;
  }

  asGateway(key: string | undefined): GatewayProcess {
    const { child } = this;
    return {
      url: this.url as string,
      key: key ?? /inference key\s+(gw_\S+)/.exec(this.printed)?.[1] ?? "",
      printed: () => this.printed,
      pid: child.pid,
      exited: this.exited,
      kill: () => this.kill(),
      suspend: () => child.kill("SIGSTOP"),
      resume: () => child.kill("SIGCONT"),
      terminate: () => {
        child.kill("SIGTERM");
        return this.exited;
      },
    };
  }

  private get url(): string | undefined {
    // The output is written at once, so the text after the URL has arrived too.
    return /^Gateway listens on (\S+)$/m.exec(this.printed)?.[1];
  }

  private async read(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const piece of stream) {
      this.printed += decoder.decode(piece, { stream: true });
      this.change.resolve();
      this.change = Promise.withResolvers();
    }
  }
}

/** Returns the record of a generation as its caller reads it, or `null`. */
export async function fetchGeneration(
  gateway: Pick<GatewayProcess, "url" | "key">,
  id: string,
): Promise<Readonly<Record<string, unknown>> | null> {
  const response = await fetch(`${gateway.url}/api/gateway/generation?id=${id}`, {
    headers: { authorization: `Bearer ${gateway.key}` },
  });
  if (response.status === 404) return null;
  return ((await response.json()) as { data: Record<string, unknown> }).data;
}

/** Posts a chat completion to a gateway's process. */
export function postChatTo(
  gateway: Pick<GatewayProcess, "url" | "key">,
  body: unknown,
  init: RequestInit = {},
): Promise<Response> {
  return fetch(`${gateway.url}/api/gateway/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    ...init,
  });
}
