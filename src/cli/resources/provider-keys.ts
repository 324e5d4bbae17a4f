import type { Command } from "commander";
import { loadConfig } from "../../app/load-config.ts";
import { openProviderKeys, type ProviderKeyServices } from "../../app/open-provider-keys.ts";
import { systemClock } from "../../base/clock.ts";
import { createSystemRandom } from "../../base/random.ts";
import { DEFAULT_ACCOUNT_ID } from "../../core/accounts/records.ts";
import { presentTrial } from "../../core/generation/key-trial-view.ts";
import { listOpenedModels, tryProviderKey } from "../../core/generation/try-provider-key.ts";
import {
  changeProviderKey,
  createProviderKey,
  isReadable,
  openProviderKey,
  presentProviderKey,
  removeProviderKey,
} from "../../core/provider-keys/manage-provider-keys.ts";
import { PROVIDER_KEY_SETTINGS } from "../../core/provider-keys/provider-key-fields.ts";
import type { ProviderKeyRecord } from "../../core/provider-keys/records.ts";
import { addFieldOptions, type GivenOptions, readFieldOptions } from "../endpoint/field-options.ts";
import { NAMED_BY, resolveAccount, resolveProviderKey } from "../endpoint/named-resources.ts";
import { addExamples, addJsonOption, auditedOptions, type JsonOption } from "../endpoint/read-options.ts";
import { labelOf } from "../endpoint/resolve-name.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { auditCommand } from "../operate/audit-command.ts";
import { formatTable } from "../render/format-table.ts";
import { print } from "../render/print.ts";
import { printTime } from "../render/print-values.ts";
import { readSecret } from "../render/read-secret.ts";

interface AccountOptions extends JsonOption {
  readonly account: string;
}

interface AddOptions extends GivenOptions, AccountOptions {}

interface UpdateOptions extends GivenOptions, JsonOption {
  readonly secret?: boolean;
}

/** `gateway provider-keys add|list|update|remove|test`: accounts' BYOK keys. A gateway may be running on the same stores. */
export function declareProviderKeyCommands(keys: Command): void {
  addAddCommand(keys);
  addJsonOption(
    keys
      .command("list")
      .description("List the provider keys of an account, by provider and order")
      .option("--account <account>", "Account that owns the keys", DEFAULT_ACCOUNT_ID),
  ).action((options: AccountOptions) => run((services) => list(services, options)));
  addUpdateCommand(keys);
  addJsonOption(
    keys
      .command("remove")
      .description("Delete a key; a running gateway stops using it within a second")
      .argument("<key>", NAMED_BY.providerKey),
  ).action((key: string, options: JsonOption) => run((services) => remove(services, key, options)));
  addJsonOption(
    keys
      .command("test")
      .description("Test a key with a request for one token")
      .argument("<key>", NAMED_BY.providerKey),
  ).action((key: string, options: JsonOption) => run((services) => test(services, key, options)));
}

function addAddCommand(keys: Command): void {
  const command = keys
    .command("add")
    .description("Store a provider key; reads it from standard input or prompts for it")
    .argument(
      "<provider>",
      "Slug of the provider, such as openai; fill-in-the-middle uses codestral or mistral",
    )
    .option("--account <account>", "Account that owns the key", DEFAULT_ACCOUNT_ID);
  addExamples(command, [
    "gateway provider-keys add openai < key.txt",
    "gateway provider-keys add anthropic --account Acme --models 'anthropic/*'",
  ]);
  addJsonOption(addFieldOptions(command, PROVIDER_KEY_SETTINGS, "new")).action(
    (provider: string, options: AddOptions) => run((services) => add(services, provider, options)),
  );
}

function addUpdateCommand(keys: Command): void {
  const command = keys
    .command("update")
    .description("Change the given fields; a running gateway applies them within a second")
    .argument("<key>", NAMED_BY.providerKey)
    .option("--secret", "Replace the secret; reads it from standard input or prompts for it");
  addJsonOption(addFieldOptions(command, PROVIDER_KEY_SETTINGS, "change")).action(
    (key: string, options: UpdateOptions) => run((services) => update(services, key, options)),
  );
}

async function run(work: (services: ProviderKeyServices) => Promise<string>): Promise<void> {
  const services = await openProviderKeys(loadConfig(process.env), {
    environment: process.env,
    clock: systemClock,
    random: createSystemRandom(),
  });
  try {
    print(await work(services));
  } finally {
    await services.close();
  }
}

async function add(services: ProviderKeyServices, provider: string, options: AddOptions): Promise<string> {
  const { id: accountId } = await resolveAccount(services.stores, options.account);
  const settings = await readSettings(services, options);
  await services.requireSameSealing();
  const secret = await readSecret(`Key for ${provider}: `);
  const wanted = { ...settings, accountId, provider, secret };
  const key = await createProviderKey(services.providerKeyStores, services.serving, wanted);
  await audit(services, key, {
    word: "add",
    changes: { ...auditChanges(options, settings), account: accountId, provider },
  });
  if (options.json) return JSON.stringify({ data: presentProviderKey(services.providerKeyStores, key) });
  return `Stored ${key.id}, a key for ${key.provider} that ends in ${key.lastFour}. Test it: gateway provider-keys test ${key.id}`;
}

async function list(
  { stores, providerKeyStores }: ProviderKeyServices,
  options: AccountOptions,
): Promise<string> {
  const account = await resolveAccount(stores, options.account);
  const keys = await stores.providerKeys.listProviderKeys(account.id);
  if (options.json)
    return JSON.stringify({ data: keys.map((key) => presentProviderKey(providerKeyStores, key)) });
  if (keys.length === 0)
    return `No provider keys of ${labelOf(account)}. Store one: gateway provider-keys add <provider>`;
  const rows = keys.map((key) => [
    key.id,
    key.provider,
    String(key.order),
    key.name,
    `…${key.lastFour}`,
    key.models?.join(" ") ?? "all",
    key.lastUsedAt === null ? "never" : printTime(key.lastUsedAt),
    isReadable(providerKeyStores.vault, key) ? (key.enabled ? "enabled" : "disabled") : "cannot be decrypted",
  ]);
  const table = formatTable(["id", "provider", "order", "name", "key", "models", "used", "state"], rows);
  return keys.every((key) => isReadable(providerKeyStores.vault, key)) ? table : `${table}\n\n${UNREADABLE}`;
}

const UNREADABLE =
  "A key cannot be decrypted if its master key is missing or has changed. Restore the master key in GATEWAY_SECRETS_KEY or secrets.keys, or store the key again: gateway provider-keys update <id> --secret";

async function update(services: ProviderKeyServices, text: string, options: UpdateOptions): Promise<string> {
  const found = await resolveProviderKey(services.stores, text);
  if (options.secret) await services.requireSameSealing();
  const settings = await readSettings(services, options);
  const secret = options.secret ? await readSecret(`Key for ${found.provider}: `) : undefined;
  const change = { ...settings, secret };
  const key = await changeProviderKey(services.providerKeyStores, services.serving, { key: found, change });
  await audit(services, key, { word: "update", changes: auditChanges(options, settings) });
  return options.json
    ? JSON.stringify({ data: presentProviderKey(services.providerKeyStores, key) })
    : `Updated ${key.id} (${key.name}).`;
}

async function remove(services: ProviderKeyServices, text: string, { json }: JsonOption): Promise<string> {
  const key = await resolveProviderKey(services.stores, text);
  await removeProviderKey(services.providerKeyStores, key);
  await audit(services, key, { word: "remove", changes: { deleted: true } });
  if (json) return JSON.stringify({ data: { id: key.id, deleted: true } });
  return `Deleted ${key.id} (${key.name}).`;
}

async function test(services: ProviderKeyServices, text: string, options: JsonOption): Promise<string> {
  const { providerKeyStores, serving, stores, trying } = services;
  const found = await resolveProviderKey(stores, text);
  const { provider, key } = openProviderKey(providerKeyStores, serving.servedModels, found);
  const tried = { provider, key, models: found.models };
  const trial = await tryProviderKey(trying, serving, tried);
  const at = stores.clock.now();
  const isOk = trial.status === "ok";
  providerKeyStores.cache.recordUse({
    id: found.id,
    usedAt: at,
    error: isOk ? null : { message: trial.message, at },
  });
  if (!isOk) process.exitCode = EXIT_CODES.failed;
  const models = listOpenedModels(serving, tried);
  if (options.json) return JSON.stringify({ data: { ...presentTrial(trial), models } });
  const words = trial.upstreamMessage === null ? "" : ` It said: ${trial.upstreamMessage}`;
  return `${trial.status}: ${trial.message}${words} The key opens ${models.length} models.`;
}

function audit(
  { stores }: ProviderKeyServices,
  { id, accountId }: ProviderKeyRecord,
  { word, changes }: { readonly word: string; readonly changes: Record<string, unknown> },
): Promise<void> {
  return auditCommand(stores, { action: `gateway provider-keys ${word}`, accountId, target: id, changes });
}

/** Returns the fields that the options set. Members may be named like users elsewhere. */
async function readSettings({ stores }: ProviderKeyServices, options: GivenOptions) {
  const settings = readFieldOptions(PROVIDER_KEY_SETTINGS, options, stores.clock.now());
  if (settings.members == null) return settings;
  const members: string[] = [];
  for (const text of settings.members)
    members.push((await resolveAccount(stores, text, { kind: "user" })).id);
  return { ...settings, members };
}

/** Returns the change for the audit log, in which members are ids. */
function auditChanges(options: GivenOptions, { members }: { readonly members?: unknown }) {
  return { ...auditedOptions(options), ...(members == null ? {} : { members }) };
}
