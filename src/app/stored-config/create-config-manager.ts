import { isDeepStrictEqual } from "node:util";
import { fail } from "../../base/failures/errors.ts";
import type { Random } from "../../base/secrets/random.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { ProviderRecord } from "../../core/catalog/records/records.ts";
import type { OidcConfig } from "../../core/console/oidc-schema.ts";
import type { PinnedSetting } from "../../core/gateways/gateway-config.ts";
import type { Serving } from "../../core/generation/call/call.ts";
import type { Vault } from "../../core/provider-keys/vault.ts";
import type { ConfigChange } from "../../core/settings/config-reload.ts";
import type {
  ConfigEdit,
  ConfigManager,
  ConfigWrite,
  ConfigWritten,
  NewSecret,
  StoredSettings,
} from "../../core/stored-config/config-manager.ts";
import {
  type ConfigDocument,
  type ConfigRevision,
  type ConfigSecret,
  type ConfigValue,
  MAX_CHANGED,
  MAX_REVISIONS,
  type RevisionHead,
} from "../../core/stored-config/config-store.ts";
import { ConfigError, presentProblem } from "../config/config-error.ts";
import type { Config } from "../config/config-schema.ts";
import type { StoredConfig } from "../config/config-sources.ts";
import { listSecretIds } from "../config/expand-references.ts";
import type { Environment } from "../config/read-provider-keys.ts";
import {
  formatPath,
  isFileOnly,
  keyOf,
  listSettingEntries,
  putSettings,
  type SettingEntry,
  type SettingPath,
} from "../config/setting-paths.ts";
import type { Stores } from "../stores/stores.ts";
import { digestValue, listPinned } from "./describe-config.ts";
import { editDocument } from "./edit-document.ts";
import { exportConfig } from "./export-config.ts";
import { expandStored, type FindSecret, openSecrets, ownerOfSecret } from "./read-stored.ts";
import { takeSecrets } from "./seal-secrets.ts";
import { tryGuardrail } from "./try-guardrail.ts";

/** The dependencies of a manager of the stored configuration. */
export interface ConfigManagerParts {
  readonly stores: Pick<Stores, "config" | "gateways">;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly random: Random;
  /** The id of this gateway; null for a command, which is none. */
  readonly gatewayId: string | null;
  /** Returns the configuration in force. */
  readonly config: () => Config;
  readonly environment: Environment;
  /** Returns the providers of the catalog. */
  readonly providers: () => readonly ProviderRecord[];
  /** Tries a stored configuration without applying it. Rejects with a `ConfigError` if it cannot be applied. */
  readonly tryStored: (stored: StoredConfig) => Promise<TriedConfig>;
  /** Returns whether a person has signed in for trial with exactly these settings a short time ago. */
  readonly hasTriedSignIn: (oidc: OidcConfig) => Promise<boolean>;
  /** Called before a secret is encrypted. Rejects if a running gateway could not decrypt it. */
  readonly requireSealing: () => Promise<void>;
  /** Called after a change was stored. */
  readonly onChanged: () => Promise<void>;
}

/** A stored configuration that could be applied. */
export interface TriedConfig {
  readonly config: Config;
  readonly changes: readonly ConfigChange[];
  /** The models that it would serve; null if no gateway runs. */
  readonly serving: Serving | null;
}

/** The largest stored configuration, as JSON. Characters. */
const MAX_CHARS = 1_000_000;
/** The maximum number of secrets. */
const MAX_SECRETS = 10_000;
/** How often a change is made again after another one came first. */
const MAX_TRIES = 5;
/** The name of a guardrail in the configuration with which one of a file is tried. */
const TRIAL_NAME = "trial";
/** The problems and settings that an error names. */
const MAX_NAMED = 100;

/** Creates the manager of the stored configuration. Several processes may have one. */
export function createConfigManager(parts: ConfigManagerParts): ConfigManager {
  const { stores } = parts;
  return {
    read: () => read(parts),
    async findChanges(paths) {
      if (paths.length === 0) return [];
      const heads = await stores.config.listConfigRevisions(null, MAX_REVISIONS);
      const byKey = new Map<string, RevisionHead>();
      for (const head of heads.toReversed()) for (const path of head.changed) byKey.set(keyOf(path), head);
      return paths.map((path) => byKey.get(keyOf(path)) ?? null);
    },
    findRevision: (revision) => stores.config.findConfigRevision(revision),
    listRevisions: (before, limit) => stores.config.listConfigRevisions(before, limit),
    async tryGuardrail(guardrail, text) {
      const name = nameOf(guardrail);
      const ofFile = keyOf(["guardrails", name]);
      const isPinned = listPinned(parts.config()).some(({ path }) => keyOf(path) === ofFile);
      // The guardrail of a file cannot be replaced, not even for a trial.
      const id = isPinned ? TRIAL_NAME : name;
      const value = { ...(guardrail as Readonly<Record<string, ConfigValue>>), name: id };
      const { config } = await tryEdits(parts, [{ path: ["guardrails", id], value }]);
      return tryGuardrail(config, { id, name }, { text, clock: parts.clock });
    },
    async tryEdits(edits) {
      const { serving } = await tryEdits(parts, edits);
      return serving ?? fail("unavailable", "A configuration can only be tried by a running gateway.");
    },
    async exportAll() {
      const latest = await stores.config.findLatestConfig();
      const sources = {
        config: parts.config(),
        environment: parts.environment,
        providers: parts.providers(),
      };
      return exportConfig({ ...sources, document: latest?.document ?? {} });
    },
    write: (write) => makeChange(parts, write),
    async removeSecret(id, by) {
      const { latest, secrets } = await read(parts);
      if (!secrets.some((secret) => secret.id === id)) fail("not_found", `There is no secret ${id}.`);
      const document = latest?.document ?? {};
      const user = listSettingEntries(document).find(({ value }) => listSecretIds(value).includes(id));
      if (user !== undefined)
        fail("conflict", `${formatPath(user.path)} refers to the secret ${id}. Change that setting first.`);
      const revision = await store(parts, { latest, document, secrets: [], removed: [id], by });
      if (revision === null) fail("conflict", "The configuration has just been changed. Try again.");
    },
  };
}

async function tryEdits(parts: ConfigManagerParts, edits: readonly ConfigEdit[]): Promise<TriedConfig> {
  const write = { from: null, change: edits, secrets: [], dryRun: true, by: "", isInConsole: false };
  return tryChange(parts, prepareChange(parts, await read(parts), write));
}

function nameOf(guardrail: ConfigValue): string {
  const { name } = (guardrail ?? {}) as { readonly name?: unknown };
  if (typeof name === "string" && name !== "") return name;
  return fail("invalid_request", "guardrail.name: is required.", { metadata: { field: "guardrail.name" } });
}

async function read({ stores, config, gatewayId }: ConfigManagerParts): Promise<StoredSettings> {
  const latest = await stores.config.findLatestConfig();
  const secrets = await stores.config.listConfigSecrets();
  const own = listPinned(config()).map((pinned) => ({ ...pinned, gateway: null }));
  const gateways = (await stores.gateways.list()).filter(({ id, isLive }) => isLive && id !== gatewayId);
  const ofOthers = gateways.flatMap(({ id, host, config: reported }) =>
    (reported?.pinned ?? []).map((pinned): PinnedSetting => ({ ...pinned, gateway: `${id} on ${host}` })),
  );
  const known = new Set(own.map(({ path }) => keyOf(path)));
  return { latest, secrets, pinned: [...own, ...ofOthers.filter(({ path }) => !known.has(keyOf(path)))] };
}

/** @throws GatewayError */
async function makeChange(parts: ConfigManagerParts, write: ConfigWrite): Promise<ConfigWritten> {
  await rejectUnaware(parts);
  for (let tries = 1; ; tries++) {
    const before = await read(parts);
    const from = before.latest?.revision ?? 0;
    if (write.from !== null && write.from !== from) rejectStale(write.from, from);
    const change = prepareChange(parts, before, write);
    const { changes, candidate, config } = await tryChange(parts, change);
    if (write.isInConsole) await requireTriedSignIn(parts, config);
    if (write.dryRun) return { revision: from, changes, isStored: false };
    const { latest } = before;
    const removed = listUnused(latest?.document ?? {}, candidate.document);
    const revision = await store(parts, { ...change, latest, removed, by: write.by });
    if (revision !== null) return { revision, changes, isStored: true };
    if (tries === MAX_TRIES)
      fail("conflict", "The configuration is changed by others all the time. Try again.");
  }
}

/** Rejects other settings of the sign-in without a trial sign-in. */
async function requireTriedSignIn(
  { config: current, hasTriedSignIn }: ConfigManagerParts,
  { console: { oidc } }: Config,
): Promise<void> {
  if (oidc === undefined || isDeepStrictEqual(oidc, current().console.oidc)) return;
  if (await hasTriedSignIn(oidc)) return;
  fail(
    "conflict",
    "Other settings of the sign-in are stored only after one trial sign-in with them has succeeded. Start it with POST /api/console/oidc/trials, and repeat the change within 15 minutes.",
    { metadata: { field: "console.oidc", needs_trial: true } },
  );
}

/** A gateway of an earlier version would go on without the stored policy. */
async function rejectUnaware({ stores }: ConfigManagerParts): Promise<void> {
  const unaware = (await stores.gateways.list()).find(({ isLive, config }) => isLive && config === null);
  if (unaware === undefined) return;
  const { id, host, version } = unaware;
  fail(
    "conflict",
    `The configuration cannot be stored while ${id} on ${host} runs version ${version}, which does not read it. Upgrade that gateway first.`,
  );
}

function rejectStale(from: number, latest: number): never {
  return fail(
    "conflict",
    `Revision ${from} is not the latest one: ${latest} is. Read the configuration again and repeat the change.`,
    { metadata: { field: "revision", latest } },
  );
}

/** A change before it is stored. */
interface PreparedChange {
  readonly document: ConfigDocument;
  /** The secrets to store, with their values. */
  readonly secrets: readonly NewSecret[];
  readonly findSecret: FindSecret;
  readonly revision: number;
}

function prepareChange(
  { vault, random }: ConfigManagerParts,
  { latest, secrets: known, pinned }: StoredSettings,
  { change, secrets: named }: ConfigWrite,
): PreparedChange {
  const before = latest?.document ?? {};
  const wanted = isEdits(change) ? editDocument(before, change) : change;
  const changed = listChanged(before, wanted);
  rejectFileOnly(changed);
  const taken = listSettingEntries(wanted).map((entry) => takeSecrets(entry, random));
  const document = putSettings(
    {},
    taken.map(({ entry }) => entry),
  );
  if (JSON.stringify(document).length > MAX_CHARS)
    fail("invalid_request", `The configuration must have at most ${MAX_CHARS} characters as JSON.`);
  const secrets = [...named, ...taken.flatMap((one) => one.secrets)];
  if (known.length + secrets.length > MAX_SECRETS)
    fail("invalid_request", `There may be at most ${MAX_SECRETS} secrets. Delete some first.`);
  const values = new Map(secrets.map(({ id, value }) => [id, value]));
  const findStored = openSecrets(known, vault);
  const findSecret: FindSecret = (id) => {
    const value = values.get(id);
    return value === undefined ? findStored(id) : { text: value };
  };
  const revision = (latest?.revision ?? 0) + 1;
  rejectPinned(changed, pinned, expandStored({ revision, document: wanted }, findSecret));
  return { document, secrets, findSecret, revision };
}

function isEdits(change: ConfigWrite["change"]): change is Exclude<ConfigWrite["change"], ConfigDocument> {
  return Array.isArray(change);
}

/** Returns the settings that a document adds or changes. */
function listChanged(before: ConfigDocument, after: ConfigDocument): readonly SettingEntry[] {
  const former = new Map(
    listSettingEntries(before).map(({ path, value }) => [keyOf(path), digestValue(value)]),
  );
  return listSettingEntries(after).filter(
    ({ path, value }) => former.get(keyOf(path)) !== digestValue(value),
  );
}

/** Returns the paths of the settings that differ between two documents. */
function listDifferent(before: ConfigDocument, after: ConfigDocument): readonly SettingPath[] {
  const changed = [...listChanged(before, after), ...listChanged(after, before)];
  const paths = new Map(changed.map(({ path }) => [keyOf(path), path]));
  return [...paths.values()].slice(0, MAX_CHANGED);
}

function rejectFileOnly(changed: readonly SettingEntry[]): void {
  const found = changed.find(({ path }) => isFileOnly(path));
  if (found === undefined) return;
  const name = formatPath(found.path);
  fail(
    "invalid_request",
    `${name} belongs to the machine of a gateway. Set it in the configuration file or the environment, and restart.`,
    { metadata: { field: name } },
  );
}

/** Rejects settings that the file or a variable of a gateway sets to another value: there the stored one would have no effect. */
function rejectPinned(
  changed: readonly SettingEntry[],
  pinned: readonly PinnedSetting[],
  { settings }: StoredConfig,
): void {
  const digests = new Map(settings.map(({ path, value }) => [keyOf(path), digestValue(value)]));
  const byKey = new Map(pinned.map((one) => [keyOf(one.path), one]));
  const found = changed.flatMap(({ path }) => {
    const key = keyOf(path);
    const one = byKey.get(key);
    return one === undefined || one.digest === digests.get(key) ? [] : one;
  });
  const [first] = found;
  if (first === undefined) return;
  const more = found.length === 1 ? "" : ` So are ${found.length - 1} more of the settings.`;
  fail(
    "conflict",
    `${formatPath(first.path)} is set ${namePlace(first)}, which takes precedence. Change it there, or remove it there first.${more}`,
    { metadata: { pinned: found.slice(0, MAX_NAMED).map(presentPinned) } },
  );
}

function namePlace({ file, line, variable, gateway }: PinnedSetting): string {
  const place = variable === null ? `in ${file}:${line}` : `by the variable ${variable}`;
  return gateway === null ? place : `${place} of ${gateway}`;
}

/** Returns a pinned setting as the management API shows it. */
export function presentPinned({ path, file, line, variable, gateway }: PinnedSetting) {
  return { path, file, line, variable, gateway };
}

/** Checks a change together with the file and the environment. @throws GatewayError `invalid_request` with all problems. */
async function tryChange(
  { tryStored }: ConfigManagerParts,
  { revision, document, findSecret }: PreparedChange,
): Promise<TriedConfig & { readonly candidate: StoredConfig }> {
  const candidate = expandStored({ revision, document }, findSecret);
  try {
    return { ...(await tryStored(candidate)), candidate };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const missing = listMissing(document, findSecret);
    return fail("invalid_request", `The changed configuration is not valid.\n${error.message}`, {
      metadata: {
        problems: error.problems.slice(0, MAX_NAMED).map(presentProblem),
        missing_secrets: missing,
      },
    });
  }
}

/** Returns the ids of secrets that a document refers to and that cannot be read. */
function listMissing(document: ConfigDocument, findSecret: FindSecret): readonly string[] {
  return [...new Set(listSecretIds(document))].filter((id) => typeof findSecret(id) === "string");
}

/** Returns the ids of secrets to which only the former document refers. */
function listUnused(before: ConfigDocument, after: ConfigDocument): readonly string[] {
  const used = new Set(listSecretIds(after));
  return [...new Set(listSecretIds(before))].filter((id) => !used.has(id));
}

/** The parts of a change that are stored. */
interface StoredChange extends Pick<PreparedChange, "document" | "secrets"> {
  readonly latest: ConfigRevision | null;
  readonly removed: readonly string[];
  readonly by: string;
}

/** Stores a change. Returns its revision; null if another one came first. */
async function store(
  { stores, vault, clock, requireSealing, onChanged }: ConfigManagerParts,
  { latest, document, secrets, removed, by }: StoredChange,
): Promise<number | null> {
  if (secrets.length > 0) await requireSealing();
  const now = clock.now();
  const seal = secrets.length === 0 ? vault.seal : vault.createSealer();
  const sealed = secrets.map(({ id, value }): ConfigSecret => {
    const owner = ownerOfSecret(id);
    const lastFour = value.length < SHOWN_FROM ? "" : value.slice(-SHOWN_CHARS);
    return {
      ...owner,
      accountId: null,
      lastFour,
      sealed: seal(value, owner),
      createdAt: now,
      updatedAt: now,
    };
  });
  const revision = await stores.config.putConfig({
    from: latest?.revision ?? 0,
    next: {
      document,
      changedAt: now,
      changedBy: by,
      changed: listDifferent(latest?.document ?? {}, document),
    },
    secrets: sealed,
    removedSecrets: removed,
  });
  if (revision !== null) await onChanged();
  return revision;
}

/** How many last characters of a secret are shown, and from which length on: in a shorter secret they would help to guess it. */
const [SHOWN_CHARS, SHOWN_FROM] = [4, 16];
