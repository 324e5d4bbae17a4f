import { fail } from "../../base/failures/errors.ts";
import type { Log } from "../../base/failures/log.ts";
import { sha256 } from "../../base/secrets/hash.ts";
import type { Random } from "../../base/secrets/random.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { GatewayConfig } from "../../core/gateways/gateway-config.ts";
import type { Vault } from "../../core/provider-keys/vault.ts";
import type { ConfigChange, ConfigReload, ReloadOptions } from "../../core/settings/config-reload.ts";
import { ConfigError, type ConfigProblem, collectProblems, presentProblem } from "../config/config-error.ts";
import { originsOf } from "../config/config-origins.ts";
import type { Config } from "../config/config-schema.ts";
import type { FileConfig, StoredConfig } from "../config/config-sources.ts";
import { diffConfigs, keepUntilRestart } from "../config/diff-configs.ts";
import type { LiveConfig } from "../config/live-config.ts";
import { combineConfig } from "../config/load-config.ts";
import type { Environment } from "../config/read-provider-keys.ts";
import { readMetricsAllowed, readTrustedProxies, requireOidcSecret } from "../config/read-settings.ts";
import { findAllProblems } from "../serving/find-config-problems.ts";
import type { PreparedServing, ServingSource } from "../serving/open-serving.ts";
import type { TriedConfig } from "../stored-config/create-config-manager.ts";
import { describeGatewayConfig } from "../stored-config/describe-config.ts";
import { readStored } from "../stored-config/read-stored.ts";
import type { UnappliedRevision } from "../stored-config/start-config.ts";
import { openMasterKeys } from "../stores/open-master-keys.ts";
import type { Stores } from "../stores/stores.ts";

/** A configuration that was read again and has no problems. It is not applied yet. */
export interface PreparedReload {
  readonly changes: readonly ConfigChange[];
  /** The same for all processes of a gateway that have read the same file and environment. Reveals nothing about secrets. */
  readonly digest: string;
  /** Applies all changes that need no restart, at the same time. Requests in progress end with the configuration with which they began. */
  apply(): ConfigReload;
}

/** What the start has read of the stored configuration. */
export interface ReloaderStart {
  /** The stored settings in force; null for none. */
  readonly stored: StoredConfig | null;
  /** The number of changes that the store had before it was read. */
  readonly changes: number;
  readonly unapplied: UnappliedRevision | null;
}

/** The dependencies of a reloader. */
interface ReloaderParts {
  readonly live: LiveConfig;
  readonly serving: Pick<ServingSource, "prepare">;
  readonly stores: Pick<Stores, "config">;
  readonly vault: Pick<Vault, "open">;
  readonly started: ReloaderStart;
  /** Reads the configuration file again. @throws ConfigError */
  readonly readFile: () => FileConfig;
  /** Adapts each configuration to this process. */
  readonly adapt: (config: Config) => Config;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Reports the configuration in force to the other gateways. Rejects with a `StoreError`. */
  readonly report: (config: GatewayConfig) => Promise<void>;
  /** Called after the change of a provider's settings: what is known of its health may not be true any more. */
  readonly onProviderChanged: (slug: string) => void;
}

/** The sources of a configuration. */
interface Sources {
  readonly file: FileConfig;
  readonly stored: StoredConfig | null;
  /** The number of changes that the store had before `stored` was read; null for a candidate, which is not stored. */
  readonly changes: number | null;
}

/** A configuration that can be applied. */
interface Prepared {
  readonly sources: Sources;
  readonly read: Config;
  readonly next: Config;
  readonly serving: PreparedServing;
  readonly changes: readonly ConfigChange[];
}

/**
 * Reads the configuration again, and applies its changes: those of the file when it is asked to, and those of the stored configuration as
 * soon as it notices them.
 */
export class ConfigReloader {
  /** One reload runs at a time. */
  private last: Promise<unknown> = Promise.resolve();
  /** The sources in force. */
  private stored: StoredConfig | null;
  /** The number of changes of the store that was looked at last. */
  private seen: number;
  private failed: UnappliedRevision | null;
  /** Whether the other gateways have the last report. */
  private isReported = true;

  constructor(private readonly parts: ReloaderParts) {
    const { stored, changes, unapplied } = parts.started;
    this.stored = stored;
    this.seen = changes;
    this.failed = unapplied;
    if (unapplied !== null) this.logUnapplied(unapplied);
  }

  /** The revision of the stored configuration in force; 0 for none. */
  get revision(): number {
    return this.stored?.revision ?? 0;
  }

  /** The latest stored revision, if it cannot be applied; null otherwise. */
  get unapplied(): UnappliedRevision | null {
    return this.failed;
  }

  /** What this gateway reports of its configuration. */
  describe(): GatewayConfig {
    const { live } = this.parts;
    return describeGatewayConfig({
      config: live.current(),
      revision: this.revision,
      unapplied: this.failed,
    });
  }

  /** Reads and checks the configuration. Rejects with a `ConfigError` with all problems. */
  prepare(): Promise<PreparedReload> {
    return this.inTurn(async () => {
      const prepared = await this.prepareNow(await this.readAll());
      const digest = digestFile(prepared.sources.file, this.parts.environment);
      return { changes: prepared.changes, digest, apply: () => this.apply(prepared) };
    });
  }

  /** Reloads, or with `dryRun` only returns the changes. Rejects with a `ConfigError` with all problems; nothing has changed then. */
  reload({ dryRun }: ReloadOptions): Promise<ConfigReload> {
    return this.inTurn(async () => {
      const prepared = await this.prepareNow(await this.readAll());
      return dryRun ? { changes: prepared.changes, applied: false } : this.apply(prepared);
    });
  }

  /**
   * Returns the changes that a stored configuration would make here, without making them. Rejects with a `ConfigError` with all of its
   * problems.
   */
  tryStored(stored: StoredConfig): Promise<TriedConfig> {
    return this.inTurn(async () => {
      const prepared = await this.prepareNow({ file: this.fileInForce(), stored, changes: null });
      const { changes, next, serving } = prepared;
      return { changes, config: next, serving: serving.serving };
    });
  }

  /**
   * Applies the stored configuration if it has changed, with the file in force, which is not read again. If it cannot be applied, the former
   * one stays in force, and `unapplied` says why. Rejects with a `StoreError` if the store is unavailable.
   */
  follow(): Promise<void> {
    return this.inTurn(async () => {
      const { stores, vault, report } = this.parts;
      const changes = await stores.config.configChanges();
      if (changes !== this.seen) await this.applyStored(changes, await readStored(stores.config, vault));
      if (this.isReported) return;
      await report(this.describe());
      this.isReported = true;
    });
  }

  private async applyStored(changes: number, stored: StoredConfig | null): Promise<void> {
    this.seen = changes;
    this.isReported = false;
    try {
      this.apply(await this.prepareNow({ file: this.fileInForce(), stored, changes }));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.failed = { revision: stored?.revision ?? 0, problems: error.problems };
      this.logUnapplied(this.failed);
    }
  }

  private inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.last.then(work);
    this.last = result.catch(() => {});
    return result;
  }

  private async readAll(): Promise<Sources> {
    const { stores, vault, readFile } = this.parts;
    const changes = await stores.config.configChanges();
    return { file: readFile(), stored: await readStored(stores.config, vault), changes };
  }

  private fileInForce(): FileConfig {
    const source = originsOf(this.parts.live.current())?.source;
    if (source === undefined) throw new Error("a configuration without its file cannot take stored settings");
    return source;
  }

  private async prepareNow(sources: Sources): Promise<Prepared> {
    const { live, serving, adapt, environment } = this.parts;
    const examined = combineConfig(sources.file, sources.stored, environment);
    if (examined.config === null || examined.problems.length > 0)
      throw new ConfigError((await findAllProblems(examined, this.parts)).problems);
    const read = adapt(examined.config);
    const next = keepUntilRestart(live.current(), read);
    const prepared = await serving.prepare(next);
    const problems = [...findProblems(read, this.parts), ...prepared.problems];
    if (problems.length > 0) throw new ConfigError(problems);
    return { sources, read, next, serving: prepared, changes: diffConfigs(live.current(), read) };
  }

  private apply({ sources, next, serving, changes }: Prepared): ConfigReload {
    const { live, onProviderChanged } = this.parts;
    const changed = changes.flatMap(({ name }) => /^providers\.([^.]+)\./.exec(name)?.[1] ?? []);
    for (const slug of new Set(changed)) onProviderChanged(slug);
    serving.adopt();
    this.stored = sources.stored;
    // A later revision that was applied since the preparation is applied again.
    this.seen = sources.changes ?? this.seen;
    this.failed = null;
    this.isReported = false;
    live.replace(
      next,
      changes.filter(({ needsRestart }) => needsRestart).map(({ name }) => name),
    );
    return { changes, applied: true };
  }

  private logUnapplied({ revision, problems }: UnappliedRevision): void {
    this.parts.log.error("the stored configuration cannot be applied; the former one stays in force", {
      revision,
      in_force: this.revision,
      detail: new ConfigError(problems).message,
    });
  }
}

function findProblems(config: Config, { random }: ReloaderParts): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  collectProblems(problems, () => openMasterKeys(config, random));
  collectProblems(problems, () => readTrustedProxies(config));
  collectProblems(problems, () => readMetricsAllowed(config));
  collectProblems(problems, () => requireOidcSecret(config));
  return problems;
}

/** Returns a digest of a configuration file and the environment variables that set something. The processes of one gateway share both. */
export function digestFile(file: FileConfig, environment: Environment): string {
  const { config } = combineConfig(file, null, environment);
  return sha256(JSON.stringify({ ...config, data_dir: null }), "hex");
}

/** The problems that an error response names. */
const MAX_NAMED = 100;

/** Throws the failure that tells a client of the management API why a configuration was not reloaded. Any other error is thrown unchanged. */
export function rejectReload(error: unknown): never {
  if (!(error instanceof ConfigError)) throw error;
  const problems = error.problems.slice(0, MAX_NAMED).map(presentProblem);
  return fail("conflict", describeRejection(error), { metadata: { problems } });
}

function describeRejection({ message, problems }: ConfigError): string {
  const count = problems.length === 1 ? "a problem" : `${problems.length} problems`;
  return `The configuration has ${count} and was not reloaded; the former one stays in force.\n${message}`;
}
