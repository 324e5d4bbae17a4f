import type { Command } from "commander";
import type { Stores } from "../app/wire-up.ts";
import { systemClock } from "../base/clock.ts";
import { toDollars } from "../base/money.ts";
import { dateOf } from "../base/time.ts";
import { MAX_PROMPT_LOG_SECONDS, presentKey } from "../core/accounts/key-fields.ts";
import { changeKey, issueKey } from "../core/accounts/manage-keys.ts";
import type { KeyRateLimitChange } from "../core/accounts/own-rate-limit.ts";
import type { KeyRecord } from "../core/accounts/records.ts";
import type { KnownNames } from "../core/catalog/known-names.ts";
import { auditCommand } from "./audit-command.ts";
import { formatFields, formatTable } from "./format-table.ts";
import {
  addRateLimitOptions,
  describeOptions,
  type RateLimitOptions,
  readDollars,
  readExpiry,
  readList,
  readName,
  readRateLimit,
} from "./read-options.ts";
import { withNames, withStores } from "./with-stores.ts";

/** `gateway keys create|list|show|update|revoke`. A gateway may be running on the same stores. */
export function addKeyCommands(program: Command): void {
  const keys = program.command("keys").description("Manage API keys");
  const createCommand = keys
    .command("create")
    .description("Create a key; its secret is printed once and not stored")
    .argument("<name>", "Name of the key")
    .option("--management", "Create a management key instead of an inference key")
    .option("--account <id>", "Owner of the key, user_… or org_… (default: the operator account)")
    .option("--user <id>", "Member that an organization's key belongs to (default: none, a service key)")
    .option("--spend-limit <dollars>", "Total spending limit in US dollars (default: none)")
    .option("--models <patterns>", "Models that the key may call, comma-separated (default: all)")
    .option(
      "--prompt-log <seconds>",
      "Store request and response bodies for this time (default: do not store)",
    )
    .option("--expires <time>", "Expiry time, such as 2027-01-31 or 2027-01-31T12:00:00Z (default: never)")
    .option("--json", "Print JSON")
    .action((name: string, options: CreateOptions) =>
      withNames((stores, known) => create(stores, known, name, options)),
    );
  addRateLimitOptions(createCommand);
  keys
    .command("list")
    .description("List keys, newest first")
    .option("--account <id>", "Only keys of this account")
    .option("--json", "Print JSON")
    .action((options: ListOptions) => withStores((stores) => list(stores, options)));
  keys
    .command("show")
    .description("Show a key and the amount spent with it")
    .argument("<id>", "ID of the key, key_…")
    .option("--json", "Print JSON")
    .action((id: string, options: JsonOption) => withStores((stores) => show(stores, id, options)));
  const updateCommand = keys
    .command("update")
    .description("Change the given fields; a running gateway applies them within a second")
    .argument("<id>", "ID of the key, key_…")
    .option("--name <name>", "New name")
    .option("--spend-limit <dollars>", "Total spending limit in US dollars, or none")
    .option("--models <patterns>", "Models that the key may call, comma-separated, or none for all")
    .option("--prompt-log <seconds>", "Store request and response bodies for this time, or none")
    .option("--expires <time>", "Expiry time, or none for never")
    .option("--json", "Print JSON")
    .action((id: string, options: UpdateOptions) =>
      withNames((stores, known) => update(stores, known, id, options)),
    );
  addRateLimitOptions(updateCommand);
  keys
    .command("revoke")
    .description("Revoke a key; a running gateway rejects it within a second")
    .argument("<id>", "ID of the key, key_…")
    .option("--json", "Print JSON")
    .action((id: string, options: JsonOption) => withStores((stores) => revoke(stores, id, options)));
}

interface JsonOption {
  readonly json?: boolean;
}

interface ListOptions extends JsonOption {
  readonly account?: string;
}

interface UpdateOptions extends RateLimitOptions {
  readonly name?: string;
  readonly spendLimit?: string;
  readonly models?: string;
  readonly promptLog?: string;
  readonly expires?: string;
  readonly json?: boolean;
}

interface CreateOptions extends Omit<UpdateOptions, "name"> {
  readonly management?: boolean;
  readonly account?: string;
  readonly user?: string;
}

async function create(
  stores: Stores,
  known: () => KnownNames,
  name: string,
  options: CreateOptions,
): Promise<string> {
  const kind = options.management ? "management" : "inference";
  const { secret, key } = await issueKey(stores, known, {
    name: readName(name),
    kind,
    expiresAt: readExpiry(options.expires, stores.clock.now()) ?? null,
    spendLimit: readDollars("--spend-limit", options.spendLimit) ?? null,
    models: readList("--models", options.models) ?? null,
    rateLimit: readOperatorLimit(options),
    promptLog: readPromptLog(options.promptLog) ?? null,
    userId: options.user ?? null,
    ...(options.account === undefined ? {} : { accountId: options.account }),
  });
  await audit(stores, "create", key, { ...describeOptions(options), name: key.name, kind });
  if (options.json) return JSON.stringify({ key: secret, data: presentKey(key) });
  return `${secret}\n\nCreated ${key.id} (${kind} key). The secret is not stored: save it now.`;
}

async function list(stores: Stores, { json, account }: ListOptions): Promise<string> {
  const keys = await stores.keys.listKeys(account === undefined ? {} : { accountId: account });
  if (json) return JSON.stringify({ data: keys.map(presentKey) });
  if (keys.length === 0) return "No keys. Create one: gateway keys create <name>";
  const rows = keys.map((key) => [
    key.id,
    key.name,
    key.kind,
    key.hint,
    dateOf(key.createdAt),
    stateOf(key),
    key.accountId,
    key.userId ?? "",
  ]);
  return formatTable(["id", "name", "kind", "key", "created", "state", "account", "user"], rows);
}

async function update(
  stores: Stores,
  known: () => KnownNames,
  id: string,
  options: UpdateOptions,
): Promise<string> {
  const found = (await stores.keys.findKey(id)) ?? rejectUnknown(id);
  const change = {
    name: options.name === undefined ? undefined : readName(options.name),
    spendLimit: readDollars("--spend-limit", options.spendLimit),
    models: readList("--models", options.models),
    rateLimit: readOperatorLimit(options),
    promptLog: readPromptLog(options.promptLog),
    expiresAt: readExpiry(options.expires, stores.clock.now()),
  };
  const key = await changeKey(stores, known, { key: found, change });
  await audit(stores, "update", key, describeOptions(options));
  return options.json ? JSON.stringify({ data: presentKey(key) }) : `Updated ${key.id} (${key.name}).`;
}

/** @throws Error for anything but whole seconds within the bounds, or `none`. */
function readPromptLog(text: string | undefined): number | null | undefined {
  if (text === undefined || text === "none") return text === undefined ? undefined : null;
  const seconds = /^\d+$/.test(text) ? Number(text) : 0;
  if (seconds >= 1 && seconds <= MAX_PROMPT_LOG_SECONDS) return seconds;
  throw new Error(`--prompt-log must be 1 to ${MAX_PROMPT_LOG_SECONDS} seconds, or none.`);
}

/** Commands run with the operator's rights. */
function readOperatorLimit(options: RateLimitOptions): KeyRateLimitChange | undefined {
  const limit = readRateLimit(options);
  return limit === undefined ? undefined : { setBy: "operator", limit };
}

async function show(stores: Stores, id: string, { json }: JsonOption): Promise<string> {
  const key = (await stores.keys.findKey(id)) ?? rejectUnknown(id);
  const spent = await stores.ledger.sumSpending({ keyId: id });
  const data = { ...presentKey(key), usage: toDollars(spent), usage_nanodollars: spent };
  return json ? JSON.stringify({ data }) : formatFields(data);
}

async function revoke(stores: Stores, id: string, { json }: JsonOption): Promise<string> {
  const key = (await stores.keys.revokeKey(id, stores.clock.now())) ?? rejectUnknown(id);
  await audit(stores, "revoke", key, { revoked: true });
  return json ? JSON.stringify({ data: presentKey(key) }) : `Revoked ${key.id} (${key.name}).`;
}

function audit(
  stores: Stores,
  word: string,
  { id, accountId }: KeyRecord,
  changes: Record<string, unknown>,
): Promise<void> {
  return auditCommand(stores, { action: `gateway keys ${word}`, accountId, target: id, changes });
}

function rejectUnknown(id: string): never {
  throw new Error(`No key has the ID ${id}. List keys: gateway keys list`);
}

function stateOf(key: KeyRecord): string {
  if (key.revokedAt !== null) return `revoked ${dateOf(key.revokedAt)}`;
  if (key.expiresAt === null) return "valid";
  return `${key.expiresAt > systemClock.now() ? "expires" : "expired"} ${dateOf(key.expiresAt)}`;
}
