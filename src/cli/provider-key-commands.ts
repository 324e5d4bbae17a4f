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

/** `gateway provider-keys add|list|update|remove|test`: works on the data directory, whether or not a gateway runs on it. */
export function addProviderKeyCommands(program: Command): void {
  const keys = program
    .command("provider-keys")
    .description("keys at providers that accounts bring, to be called with in place of the gateway's own");
  keys
    .command("add")
    .description("store a key; it is read from standard input, or asked for")
    .argument(
      "<provider>",
      "the provider's slug, such as openai; codestral and mistral for fill in the middle",
    )
    .option("--account <id>", "whose it is", DEFAULT_ACCOUNT_ID)
    .option("--name <name>", "what it is for")
    .option("--order <number>", "keys of one provider are tried from the lowest on", readOrder)
    .option("--models <patterns...>", "models that it serves, * for any characters; all when left out")
    .option("--members <users...>", "users that it serves; all when left out")
    .option("--json", "print JSON")
    .action((provider: string, options: AddOptions) => run((office) => add(office, provider, options)));
  keys
    .command("list")
    .description("list an account's keys, by provider and order")
    .option("--account <id>", "whose they are", DEFAULT_ACCOUNT_ID)
    .option("--json", "print JSON")
    .action((options: JsonOption & { account: string }) => run((office) => list(office, options)));
  keys
    .command("update")
    .description("change what is given, leave the rest; a running gateway follows within a second")
    .argument("<id>", "the key's id, pkey_…")
    .option("--secret", "another secret; it is read from standard input, or asked for")
    .option("--name <name>", "another name")
    .option("--order <number>", "keys of one provider are tried from the lowest on", readOrder)
    .option("--models <patterns>", "models that it serves, between commas; none: all")
    .option("--members <users>", "users that it serves, between commas; none: all")
    .option("--enabled <yes|no>", "whether it is used")
    .option("--json", "print JSON")
    .action((id: string, options: UpdateOptions) => run((office) => update(office, id, options)));
  keys
    .command("remove")
    .description("forget a key; a running gateway calls nobody with it within a second")
    .argument("<id>", "the key's id, pkey_…")
    .option("--json", "print JSON")
    .action((id: string, options: JsonOption) => run((office) => remove(office, id, options)));
  keys
    .command("test")
    .description("ask the provider for one token with a key")
    .argument("<id>", "the key's id, pkey_…")
    .option("--json", "print JSON")
    .action((id: string, options: JsonOption) => run((office) => test(office, id, options)));
}

async function run(work: (office: ProviderKeyServices) => Promise<string>): Promise<void> {
  const office = await openProviderKeys(
    loadConfig(process.env),
    process.env,
    systemClock,
    createSystemRandom(),
  );
  try {
    console.log(await work(office));
  } finally {
    await office.close();
  }
}

async function add(office: ProviderKeyServices, provider: string, options: AddOptions): Promise<string> {
  const { account: accountId, name, order, models, members } = options;
  if ((await office.stores.accounts.findAccount(accountId)) === null)
    throw new Error(`There is no account ${accountId}`);
  await office.requireSameSealing();
  const secret = await readSecret(`Key for ${provider}: `);
  const wanted = { accountId, provider, secret, name, order, models, members };
  const key = await createProviderKey(office.maker, office.serving, wanted);
  await audit(office, "add", key, { ...describeOptions(options), provider });
  if (options.json) return JSON.stringify({ data: presentProviderKey(office.maker, key) });
  return `${key.id} is stored, a key for ${key.provider} that ends in ${key.lastFour}. Try it: gateway provider-keys test ${key.id}`;
}

async function list(
  { stores, maker }: ProviderKeyServices,
  options: JsonOption & { account: string },
): Promise<string> {
  const keys = await stores.providerKeys.listProviderKeys(options.account);
  if (options.json) return JSON.stringify({ data: keys.map((key) => presentProviderKey(maker, key)) });
  if (keys.length === 0)
    return `${options.account} has no keys at providers. Store one: gateway provider-keys add <provider>`;
  const rows = keys.map((key) => [
    key.id,
    key.provider,
    String(key.order),
    key.name,
    `…${key.lastFour}`,
    key.models?.join(" ") ?? "all",
    key.lastUsedAt === null ? "never" : printTime(key.lastUsedAt),
    isReadable(maker.vault, key) ? (key.enabled ? "enabled" : "disabled") : "cannot be opened",
  ]);
  const table = formatTable(["id", "provider", "order", "name", "key", "models", "used", "state"], rows);
  return keys.every((key) => isReadable(maker.vault, key)) ? table : `${table}\n\n${UNREADABLE}`;
}

const UNREADABLE =
  "The master key that sealed a key that cannot be opened is missing or has changed. Restore it in GATEWAY_SECRETS_KEY or secrets.keys, or store the key again: gateway provider-keys update <id> --secret";

async function update(office: ProviderKeyServices, id: string, options: UpdateOptions): Promise<string> {
  const found = await find(office, id);
  if (options.secret) await office.requireSameSealing();
  const key = await changeProviderKey(office.maker, office.serving, found, {
    secret: options.secret ? await readSecret(`Key for ${found.provider}: `) : undefined,
    name: options.name === undefined ? undefined : readName(options.name),
    order: options.order,
    models: readList("--models", options.models),
    members: readList("--members", options.members),
    enabled: readChoice("--enabled", options.enabled, ["yes", "no"]),
  });
  await audit(office, "update", key, describeOptions(options));
  return options.json
    ? JSON.stringify({ data: presentProviderKey(office.maker, key) })
    : `${key.id} (${key.name}) is changed.`;
}

async function remove(office: ProviderKeyServices, id: string, { json }: JsonOption): Promise<string> {
  const key = await find(office, id);
  await removeProviderKey(office.maker, id);
  await audit(office, "remove", key, { deleted: true });
  if (json) return JSON.stringify({ data: { id, deleted: true } });
  return `${key.id} (${key.name}) is forgotten.`;
}

async function test(office: ProviderKeyServices, id: string, options: JsonOption): Promise<string> {
  const { maker, serving, trying } = office;
  const found = await find(office, id);
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
    throw new Error(`There is no key ${id} at a provider. List them: gateway provider-keys list`);
  return key;
}

function readOrder(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError("It must be a whole number of 0 or more.");
  return Number(text);
}
