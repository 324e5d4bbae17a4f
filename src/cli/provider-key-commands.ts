import { type Command, InvalidArgumentError } from "commander";
import { loadConfig } from "../app/load-config.ts";
import { openProviderKeys, type ProviderKeyServices } from "../app/open-provider-keys.ts";
import { systemClock } from "../base/clock.ts";
import { createSystemRandom } from "../base/random.ts";
import { DEFAULT_ACCOUNT_ID } from "../core/accounts/records.ts";
import { tryProviderKey } from "../core/generation/try-provider-key.ts";
import {
  changeProviderKey,
  createProviderKey,
  isReadable,
  openProviderKey,
  presentProviderKey,
  removeProviderKey,
} from "../core/provider-keys/manage-provider-keys.ts";
import type { ProviderKeyRecord } from "../core/provider-keys/records.ts";
import { auditCommand } from "./audit-command.ts";
import { formatTable } from "./format-table.ts";
import { printTime } from "./print-values.ts";
import { describeOptions, readChoice, readList, readName } from "./read-options.ts";
import { readSecret } from "./read-secret.ts";

interface JsonOption {
  readonly json?: boolean;
}

interface AddOptions extends JsonOption {
  readonly account: string;
  readonly name?: string;
  readonly order?: number;
  readonly models?: readonly string[];
  readonly members?: readonly string[];
}

interface UpdateOptions extends JsonOption {
  readonly secret?: boolean;
  readonly name?: string;
  readonly order?: number;
  readonly models?: string;
  readonly members?: string;
  readonly enabled?: string;
}

/** `gateway provider-keys add|list|update|remove|test`: accounts' own keys at providers. A gateway may be running on the same stores. */
export function addProviderKeyCommands(program: Command): void {
  const keys = program.command("provider-keys").description("Manage accounts' own provider keys (BYOK)");
  keys
    .command("add")
    .description("Store a provider key; reads it from standard input or prompts for it")
    .argument(
      "<provider>",
      "Slug of the provider, such as openai; fill-in-the-middle uses codestral or mistral",
    )
    .option("--account <id>", "Account that owns the key", DEFAULT_ACCOUNT_ID)
    .option("--name <name>", "Name of the key")
    .option("--order <number>", "Keys of one provider are tried in ascending order", readOrder)
    .option("--models <patterns...>", "Models that the key serves; * matches any characters (default: all)")
    .option("--members <users...>", "Members that the key serves (default: all)")
    .option("--json", "Print JSON")
    .action((provider: string, options: AddOptions) => run((services) => add(services, provider, options)));
  keys
    .command("list")
    .description("List the provider keys of an account, by provider and order")
    .option("--account <id>", "Account that owns the keys", DEFAULT_ACCOUNT_ID)
    .option("--json", "Print JSON")
    .action((options: JsonOption & { account: string }) => run((services) => list(services, options)));
  keys
    .command("update")
    .description("Change the given fields; a running gateway applies them within a second")
    .argument("<id>", "ID of the key, pkey_…")
    .option("--secret", "Replace the secret; reads it from standard input or prompts for it")
    .option("--name <name>", "New name")
    .option("--order <number>", "Keys of one provider are tried in ascending order", readOrder)
    .option("--models <patterns>", "Models that the key serves, comma-separated, or none for all")
    .option("--members <users>", "Members that the key serves, comma-separated, or none for all")
    .option("--enabled <yes|no>", "Whether the key is used")
    .option("--json", "Print JSON")
    .action((id: string, options: UpdateOptions) => run((services) => update(services, id, options)));
  keys
    .command("remove")
    .description("Delete a key; a running gateway stops using it within a second")
    .argument("<id>", "ID of the key, pkey_…")
    .option("--json", "Print JSON")
    .action((id: string, options: JsonOption) => run((services) => remove(services, id, options)));
  keys
    .command("test")
    .description("Test a key with a request for one token")
    .argument("<id>", "ID of the key, pkey_…")
    .option("--json", "Print JSON")
    .action((id: string, options: JsonOption) => run((services) => test(services, id, options)));
}

async function run(work: (services: ProviderKeyServices) => Promise<string>): Promise<void> {
  const services = await openProviderKeys(
    loadConfig(process.env),
    process.env,
    systemClock,
    createSystemRandom(),
  );
  try {
    console.log(await work(services));
  } finally {
    await services.close();
  }
}

async function add(services: ProviderKeyServices, provider: string, options: AddOptions): Promise<string> {
  const { account: accountId, name, order, models, members } = options;
  if ((await services.stores.accounts.findAccount(accountId)) === null)
    throw new Error(`No account has the ID ${accountId}`);
  await services.requireSameSealing();
  const secret = await readSecret(`Key for ${provider}: `);
  const wanted = { accountId, provider, secret, name, order, models, members };
  const key = await createProviderKey(services.maker, services.serving, wanted);
  await audit(services, "add", key, { ...describeOptions(options), provider });
  if (options.json) return JSON.stringify({ data: presentProviderKey(services.maker, key) });
  return `Stored ${key.id}, a key for ${key.provider} that ends in ${key.lastFour}. Test it: gateway provider-keys test ${key.id}`;
}

async function list(
  { stores, maker }: ProviderKeyServices,
  options: JsonOption & { account: string },
): Promise<string> {
  const keys = await stores.providerKeys.listProviderKeys(options.account);
  if (options.json) return JSON.stringify({ data: keys.map((key) => presentProviderKey(maker, key)) });
  if (keys.length === 0)
    return `No provider keys of ${options.account}. Store one: gateway provider-keys add <provider>`;
  const rows = keys.map((key) => [
    key.id,
    key.provider,
    String(key.order),
    key.name,
    `…${key.lastFour}`,
    key.models?.join(" ") ?? "all",
    key.lastUsedAt === null ? "never" : printTime(key.lastUsedAt),
    isReadable(maker.vault, key) ? (key.enabled ? "enabled" : "disabled") : "cannot be decrypted",
  ]);
  const table = formatTable(["id", "provider", "order", "name", "key", "models", "used", "state"], rows);
  return keys.every((key) => isReadable(maker.vault, key)) ? table : `${table}\n\n${UNREADABLE}`;
}

const UNREADABLE =
  "A key cannot be decrypted if its master key is missing or has changed. Restore the master key in GATEWAY_SECRETS_KEY or secrets.keys, or store the key again: gateway provider-keys update <id> --secret";

async function update(services: ProviderKeyServices, id: string, options: UpdateOptions): Promise<string> {
  const found = await find(services, id);
  if (options.secret) await services.requireSameSealing();
  const key = await changeProviderKey(services.maker, services.serving, found, {
    secret: options.secret ? await readSecret(`Key for ${found.provider}: `) : undefined,
    name: options.name === undefined ? undefined : readName(options.name),
    order: options.order,
    models: readList("--models", options.models),
    members: readList("--members", options.members),
    enabled: readChoice("--enabled", options.enabled, ["yes", "no"]),
  });
  await audit(services, "update", key, describeOptions(options));
  return options.json
    ? JSON.stringify({ data: presentProviderKey(services.maker, key) })
    : `Updated ${key.id} (${key.name}).`;
}

async function remove(services: ProviderKeyServices, id: string, { json }: JsonOption): Promise<string> {
  const key = await find(services, id);
  await removeProviderKey(services.maker, id);
  await audit(services, "remove", key, { deleted: true });
  if (json) return JSON.stringify({ data: { id, deleted: true } });
  return `Deleted ${key.id} (${key.name}).`;
}

async function test(services: ProviderKeyServices, id: string, options: JsonOption): Promise<string> {
  const { maker, serving, trying } = services;
  const found = await find(services, id);
  const { provider, key } = openProviderKey(maker, serving.servedModels, found);
  const trial = await tryProviderKey(trying, serving, provider, key, found.models);
  const at = systemClock.now();
  const isOk = trial.status === "ok";
  maker.ring.recordUse({ id, usedAt: at, error: isOk ? null : { message: trial.message, at } });
  if (!isOk) process.exitCode = 1;
  if (options.json) return JSON.stringify({ data: trial });
  return `${trial.status}: ${trial.message}`;
}

function audit(
  { stores }: ProviderKeyServices,
  word: string,
  { id, accountId }: ProviderKeyRecord,
  changes: Record<string, unknown>,
): Promise<void> {
  return auditCommand(stores, { action: `gateway provider-keys ${word}`, accountId, target: id, changes });
}

async function find({ stores }: ProviderKeyServices, id: string): Promise<ProviderKeyRecord> {
  const key = await stores.providerKeys.findProviderKey(id);
  if (key === null)
    throw new Error(`No provider key has the ID ${id}. List them: gateway provider-keys list`);
  return key;
}

function readOrder(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError("It must be a whole number of 0 or more.");
  return Number(text);
}
