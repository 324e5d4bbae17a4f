import { sha256 } from "../../base/secrets/hash.ts";
import type { GatewayConfig, PinnedSetting } from "../../core/gateways/gateway-config.ts";
import type { ConfigValue } from "../../core/stored-config/config-store.ts";
import { formatProblem } from "../config/config-error.ts";
import { originsOf } from "../config/config-origins.ts";
import type { Config } from "../config/config-schema.ts";
import { listSettingEntries, toConfigPath } from "../config/setting-paths.ts";
import type { UnappliedRevision } from "./start-config.ts";

/** Returns the settings of a configuration that its file or a variable sets. Their number has the bound of values in a file. */
export function listPinned(config: Config): readonly Omit<PinnedSetting, "gateway">[] {
  const origins = originsOf(config);
  if (origins === null) return [];
  const { source, variableAt } = origins;
  const ofFile = listSettingEntries(source.written).map(({ path, value }) => {
    const { file, line } = source.placeOf(toConfigPath(path, source.written));
    return { path, file, line, variable: null, digest: digestValue(value) };
  });
  const ofVariables = [...variableAt].map(([name, variable]) => {
    const path = name.split(".");
    return { path, file: null, line: null, variable, digest: digestValue(valueAt(config, path)) };
  });
  return [...ofVariables, ...ofFile];
}

function valueAt(config: Config, path: readonly string[]): ConfigValue {
  let value: unknown = config;
  for (const part of path) value = (value as Readonly<Record<string, unknown>> | undefined)?.[part];
  return (value ?? null) as ConfigValue;
}

/** Returns a digest of a value, which is the same for members in another order. */
export function digestValue(value: ConfigValue): string {
  return sha256(JSON.stringify(sortMembers(value)), "hex").slice(0, 32);
}

function sortMembers(value: ConfigValue): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, member]) => [name, sortMembers(member)] as const);
  return entries.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The parts of a gateway's report that the configuration in force does not tell. */
interface Applied {
  readonly config: Config;
  readonly revision: number;
  readonly unapplied: UnappliedRevision | null;
}

/** Returns what a gateway reports of its configuration. */
export function describeGatewayConfig({ config, revision, unapplied }: Applied): GatewayConfig {
  const pinned = listPinned(config);
  const written = pinned.map(({ path, digest }) => [path, digest]);
  return {
    fileDigest: sha256(JSON.stringify(written), "hex"),
    revision,
    problem: unapplied === null ? null : describeUnapplied(unapplied),
    pinned,
  };
}

/** The problems that a report names. */
const MAX_NAMED = 3;

/** Says which stored revision is not in force, and why. */
export function describeUnapplied({ revision, problems }: UnappliedRevision): string {
  const named = problems.slice(0, MAX_NAMED).map(formatProblem).join("; ");
  return `Revision ${revision} of the stored configuration cannot be applied, and an earlier one is in force: ${named}`;
}
