import type { Command } from "commander";
import type { Stores } from "../../app/stores.ts";
import { toDollars } from "../../base/money.ts";
import { dateOf } from "../../base/time.ts";
import { KEY_SETTINGS, presentKey } from "../../core/accounts/key-fields.ts";
import { changeKey, issueKey, type KeyChange } from "../../core/accounts/manage-keys.ts";
import type { KeyRecord } from "../../core/accounts/records.ts";
import { type NamedStores, withNames, withStores } from "../callers/with-stores.ts";
import { addFieldOptions, type GivenOptions, readFieldOptions } from "../endpoint/field-options.ts";
import { NAMED_BY, resolveKey, resolveScope } from "../endpoint/named-resources.ts";
import {
  addExamples,
  addJsonOption,
  auditedOptions,
  type JsonOption,
  readName,
} from "../endpoint/read-options.ts";
import { auditCommand } from "../operate/audit-command.ts";
import { formatFields, formatTable } from "../render/format-table.ts";
import { printTime } from "../render/print-values.ts";

const { name: NAME, ...NEW_KEY_OPTIONS } = KEY_SETTINGS;

/** `gateway keys create|list|show|update|revoke`. A gateway may be running on the same stores. */
export function declareKeyCommands(keys: Command): void {
  addCreateCommand(keys);
  addJsonOption(
    keys
      .command("list")
      .description("List keys, newest first")
      .option("--account <account>", "Only keys of this account")
      .option("--user <user>", "Only keys of this user"),
  ).action((options: ListOptions) => withStores((stores) => list(stores, options)));
  addJsonOption(
    keys
      .command("show")
      .description("Show a key and the amount spent with it")
      .argument("<key>", NAMED_BY.key),
  ).action((key: string, options: JsonOption) => withStores((stores) => show(stores, key, options)));
  addUpdateCommand(keys);
  addJsonOption(
    keys
      .command("revoke")
      .description("Revoke a key; a running gateway rejects it within a second")
      .argument("<key>", NAMED_BY.key),
  ).action((key: string, options: JsonOption) => withStores((stores) => revoke(stores, key, options)));
}

function addCreateCommand(keys: Command): void {
  const command = keys
    .command("create")
    .description("Create a key; its secret is printed once and not stored")
    .argument("<name>", NAME.option?.help)
    .option("--management", "Create a management key instead of an inference key")
    .option("--account <account>", "Owner of the key (default: the operator account)")
    .option("--user <user>", "Member that an organization's key belongs to (default: none, a service key)");
  addExamples(command, [
    'gateway keys create "my laptop"',
    "gateway keys create ci --account Acme --spend-limit 20 --models 'openai/*,anthropic/*'",
    "gateway keys create console --management",
  ]);
  addJsonOption(addFieldOptions(command, NEW_KEY_OPTIONS, "new")).action(
    (name: string, options: CreateOptions) => withNames((named) => create(named, name, options)),
  );
}

function addUpdateCommand(keys: Command): void {
  const command = keys
    .command("update")
    .description("Change the given fields; a running gateway applies them within a second")
    .argument("<key>", NAMED_BY.key);
  addJsonOption(addFieldOptions(command, KEY_SETTINGS, "change")).action(
    (key: string, options: UpdateOptions) => withNames((named) => update(named, key, options)),
  );
}

interface ListOptions extends JsonOption {
  readonly account?: string;
  readonly user?: string;
}

interface UpdateOptions extends GivenOptions, JsonOption {}

interface CreateOptions extends UpdateOptions {
  readonly management?: boolean;
  readonly account?: string;
  readonly user?: string;
}

async function create({ stores, known }: NamedStores, text: string, options: CreateOptions): Promise<string> {
  const { management, account, user, json } = options;
  const name = readName(text);
  const kind = management ? "management" : "inference";
  const change = readChange(options, stores);
  const owner = await findOwner(stores, options);
  const { secret, key } = await issueKey(stores, known, { ...change, ...owner, name, kind });
  const ids = {
    ...(account === undefined ? {} : { account: key.accountId }),
    ...(user === undefined ? {} : { user: key.userId }),
  };
  await audit(stores, key, { word: "create", changes: { ...auditedOptions(options), ...ids, name, kind } });
  if (json) return JSON.stringify({ key: secret, data: presentKey(key) });
  return `${secret}\n\nCreated ${key.id} (${kind} key). The secret is not stored: save it now.`;
}

/** Returns the ids of the account and the user that the options of a key name. */
async function findOwner(stores: Stores, { account, user }: Pick<ListOptions, "account" | "user">) {
  const { accountId, userId } = await resolveScope(stores, { account, user });
  return { ...(accountId === null ? {} : { accountId }), ...(userId === null ? {} : { userId }) };
}

async function list(stores: Stores, { json, ...options }: ListOptions): Promise<string> {
  const keys = await stores.keys.listKeys(await findOwner(stores, options));
  if (json) return JSON.stringify({ data: keys.map(presentKey) });
  if (keys.length === 0) return "No keys. Create one: gateway keys create <name>";
  const rows = keys.map((key) => [
    key.id,
    key.name,
    key.kind,
    key.hint,
    dateOf(key.createdAt),
    stateOf(key, stores.clock.now()),
    key.lastUsedAt === null ? "never" : printTime(key.lastUsedAt),
    key.accountId,
    key.userId ?? "",
  ]);
  return formatTable(["id", "name", "kind", "key", "created", "state", "used", "account", "user"], rows);
}

async function update({ stores, known }: NamedStores, text: string, options: UpdateOptions): Promise<string> {
  const found = await resolveKey(stores, text);
  const key = await changeKey(stores, known, { key: found, change: readChange(options, stores) });
  await audit(stores, key, { word: "update", changes: auditedOptions(options) });
  return options.json ? JSON.stringify({ data: presentKey(key) }) : `Updated ${key.id} (${key.name}).`;
}

/** Commands have the operator's rights. */
function readChange(options: GivenOptions, { clock }: Stores): KeyChange {
  const { rateLimit: limit, ...change } = readFieldOptions(KEY_SETTINGS, options, clock.now());
  return limit === undefined ? change : { ...change, rateLimit: { setBy: "operator", limit } };
}

async function show(stores: Stores, text: string, { json }: JsonOption): Promise<string> {
  const key = await resolveKey(stores, text);
  const spent = await stores.ledger.sumSpending({ keyId: key.id });
  const data = { ...presentKey(key), usage: toDollars(spent), usage_nanodollars: spent };
  return json ? JSON.stringify({ data }) : formatFields(data);
}

async function revoke(stores: Stores, text: string, { json }: JsonOption): Promise<string> {
  const found = await resolveKey(stores, text);
  const key = (await stores.keys.revokeKey(found.id, stores.clock.now())) ?? found;
  await audit(stores, key, { word: "revoke", changes: { revoked: true } });
  return json ? JSON.stringify({ data: presentKey(key) }) : `Revoked ${key.id} (${key.name}).`;
}

function audit(
  stores: Stores,
  { id, accountId }: KeyRecord,
  { word, changes }: { readonly word: string; readonly changes: Record<string, unknown> },
): Promise<void> {
  return auditCommand(stores, { action: `gateway keys ${word}`, accountId, target: id, changes });
}

function stateOf(key: KeyRecord, now: number): string {
  if (key.revokedAt !== null) return `revoked ${dateOf(key.revokedAt)}`;
  if (key.expiresAt === null) return "valid";
  return `${key.expiresAt > now ? "expires" : "expired"} ${dateOf(key.expiresAt)}`;
}
