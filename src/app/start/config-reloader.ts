import { fail } from "../../base/failures/errors.ts";
import { sha256 } from "../../base/secrets/hash.ts";
import type { Random } from "../../base/secrets/random.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { ConfigChange, ConfigReload, ReloadOptions } from "../../core/settings/config-reload.ts";
import { ConfigError, type ConfigProblem, collectProblems, presentProblem } from "../config/config-error.ts";
import type { Config } from "../config/config-schema.ts";
import { diffConfigs, keepUntilRestart } from "../config/diff-configs.ts";
import type { LiveConfig } from "../config/live-config.ts";
import { requireOidcSecret } from "../config/read-oidc-secret.ts";
import type { Environment } from "../config/read-provider-keys.ts";
import { readMetricsAllowed, readTrustedProxies } from "../config/read-settings.ts";
import { requireSoundConfig } from "../serving/find-config-problems.ts";
import type { PreparedServing, ServingSource } from "../serving/open-serving.ts";
import { openMasterKeys } from "../stores/open-master-keys.ts";

/** A configuration that was read again and has no problems. It is not applied yet. */
export interface PreparedReload {
  readonly changes: readonly ConfigChange[];
  /** The same for all processes of a gateway that have read the same configuration. Reveals nothing about secrets. */
  readonly digest: string;
  /** Applies all changes that need no restart, at the same time. Requests in progress end with the configuration with which they began. */
  apply(): ConfigReload;
}

/** The dependencies of a reloader. */
interface ReloaderParts {
  readonly live: LiveConfig;
  readonly serving: Pick<ServingSource, "prepare">;
  /** Reads the configuration again. @throws ConfigError */
  readonly readConfig: () => Config;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly random: Random;
  /** Called after the change of a provider's settings: what is known of its health may not be true any more. */
  readonly onProviderChanged: (slug: string) => void;
}

/** Reads the configuration again, and applies its changes. */
export class ConfigReloader {
  /** One reload runs at a time. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly parts: ReloaderParts) {}

  /** Reads and checks the configuration. Rejects with a `ConfigError` with all problems. */
  prepare(): Promise<PreparedReload> {
    return this.inTurn(() => this.prepareNow());
  }

  /** Reloads, or with `dryRun` only returns the changes. Rejects with a `ConfigError` with all problems; nothing has changed then. */
  reload({ dryRun }: ReloadOptions): Promise<ConfigReload> {
    return this.inTurn(async () => {
      const prepared = await this.prepareNow();
      return dryRun ? { changes: prepared.changes, applied: false } : prepared.apply();
    });
  }

  private inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.last.then(work);
    this.last = result.catch(() => {});
    return result;
  }

  private async prepareNow(): Promise<PreparedReload> {
    const { live, serving, readConfig } = this.parts;
    const read = await requireSoundConfig(readConfig, this.parts);
    const next = keepUntilRestart(live.current(), read);
    const prepared = await serving.prepare(next);
    const problems = [...findProblems(read, this.parts), ...prepared.problems];
    if (problems.length > 0) throw new ConfigError(problems);
    const changes = diffConfigs(live.current(), read);
    return {
      changes,
      digest: digestOf(read),
      apply: () => this.apply(prepared, next, changes),
    };
  }

  private apply(serving: PreparedServing, next: Config, changes: readonly ConfigChange[]): ConfigReload {
    const { live, onProviderChanged } = this.parts;
    const changed = changes.flatMap(({ name }) => /^providers\.([^.]+)\./.exec(name)?.[1] ?? []);
    for (const slug of new Set(changed)) onProviderChanged(slug);
    serving.adopt();
    live.replace(
      next,
      changes.filter(({ needsRestart }) => needsRestart).map(({ name }) => name),
    );
    return { changes, applied: true };
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

/** The processes of one gateway differ in their data directories only. */
function digestOf(config: Config): string {
  return sha256(JSON.stringify({ ...config, data_dir: null, keys_dir: null }), "hex");
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
