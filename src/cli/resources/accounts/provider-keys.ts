import type { Command } from "commander";
import { DEFAULT_ACCOUNT_ID } from "../../../core/accounts/records/records.ts";
import { PROVIDER_KEY_SETTINGS } from "../../../core/provider-keys/provider-key-fields.ts";
import {
  deleteProviderKey,
  listProviderKeys,
  patchProviderKey,
  postProviderKey,
  testProviderKey,
} from "../../../http/routes/accounts/admin-provider-keys.ts";
import type { Caller, EndpointInput } from "../../callers/caller.ts";
import { type CommandRun, defineCommand, type OptionSpec } from "../../endpoint/command-spec.ts";
import { declareCommands } from "../../endpoint/declare-command.ts";
import { accountsOf, NAMED_BY, providerKeysOf } from "../../endpoint/named-resources.ts";
import { labelOf, type Named, resolveName } from "../../endpoint/resolve-name.ts";
import { printList, printUse, showChange, tableOf } from "../../render/columns.ts";
import { readSecret } from "../../render/read-secret.ts";

const KEY = {
  name: "<key>",
  help: NAMED_BY.providerKey,
  field: "key_id",
  named: providerKeysOf,
} as const;

/** The account is a part of the path. */
const OWNER: OptionSpec = {
  flags: "--account <account>",
  help: "Account that owns the key",
  field: "params.id",
  named: accountsOf(),
  initial: DEFAULT_ACCOUNT_ID,
};

/** `gateway provider-keys add|list|update|remove|test`: accounts' BYOK keys. */
export function declareProviderKeyCommands(keys: Command): void {
  declareCommands(keys, [
    defineCommand({
      name: "add",
      description: "Store a provider key. Reads it from standard input or prompts for it",
      endpoint: postProviderKey,
      args: [
        {
          name: "<provider>",
          help: "Slug of the provider, such as openai; fill-in-the-middle uses codestral or mistral",
          field: "provider",
        },
      ],
      options: [OWNER],
      settings: { of: PROVIDER_KEY_SETTINGS, use: "new" },
      fixed: { key: undefined },
      examples: [
        "gateway provider-keys add openai < key.txt",
        "gateway provider-keys add anthropic --account Acme --models 'anthropic/*'",
      ],
      async complete({ body }, { caller, args: [provider] }) {
        const settings = await resolveMembers(caller, body);
        return { body: { ...settings, key: await readSecret(`Key for ${provider}: `) } };
      },
      show: ({ data }) =>
        `Stored ${data.id}, a key for ${data.provider} that ends in ${data.last_four}. Test it: gateway provider-keys test ${data.id}`,
    }),
    defineCommand({
      name: "list",
      endpoint: listProviderKeys,
      options: [OWNER],
      show({ data }, { named }) {
        if (data.length === 0)
          return `No provider keys of ${labelOf(named["account"] as Named)}. Store one: gateway provider-keys add <provider>`;
        const table = formatKeys({ data });
        return data.every(({ readable }) => readable) ? table : `${table}\n\n${UNREADABLE}`;
      },
    }),
    defineCommand({
      name: "update",
      description: "Change the given fields. A running gateway applies them within a second",
      endpoint: patchProviderKey,
      args: [KEY],
      options: [
        {
          flags: "--secret",
          help: "Replace the secret. Reads it from standard input or prompts for it",
          field: null,
        },
      ],
      settings: { of: PROVIDER_KEY_SETTINGS, use: "change" },
      fixed: { key: undefined },
      async complete(input, run) {
        const settings = await resolveMembers(run.caller, input.body);
        const secret = run.options["secret"] === true ? { key: await readSecret("Key: ") } : {};
        return { ...addOwner(input, run), body: { ...settings, ...secret } };
      },
      show: showChange("Updated"),
    }),
    defineCommand({
      name: "remove",
      description: "Delete a key. A running gateway stops using it within a second",
      endpoint: deleteProviderKey,
      args: [KEY],
      complete: async (input, run) => addOwner(input, run),
      show: ({ data }, { named }) => `Deleted ${data.id} (${named["key"]?.name}).`,
    }),
    defineCommand({
      name: "test",
      endpoint: testProviderKey,
      args: [KEY],
      complete: async (input, run) => addOwner(input, run),
      hasFailed: ({ data }) => data.status !== "ok",
      show({ data: { status, message, upstream_message, models } }) {
        const words = upstream_message === null ? "" : ` It said: ${upstream_message}`;
        return `${status}: ${message}${words} The key opens ${models.length} models.`;
      },
    }),
  ]);
}

const formatKeys = tableOf([
  ...["id", "provider", "order", "name"],
  ["key", "last_four", (four) => `…${four}`],
  ["models", "models", printList],
  ["used", "last_used_at", printUse],
  [
    "state",
    "readable",
    (isReadable, { enabled }) =>
      isReadable !== true ? "cannot be decrypted" : enabled === true ? "enabled" : "disabled",
  ],
]);

const UNREADABLE =
  "A key cannot be decrypted if its master key is missing or has changed. Restore the master key in GATEWAY_SECRETS_KEY or secrets.keys, or store the key again: gateway provider-keys update <id> --secret";

/** Adds the account of the named key to the path. */
function addOwner({ params }: EndpointInput, { named }: Pick<CommandRun, "named">) {
  return { params: { ...params, id: named["key"]?.owner } };
}

/** Returns settings in which members are ids. The given members may be names, as elsewhere. */
async function resolveMembers(
  caller: Caller,
  settings: EndpointInput["body"],
): Promise<EndpointInput["body"]> {
  const { members } = settings;
  if (!Array.isArray(members)) return settings;
  const ids: string[] = [];
  for (const text of members) ids.push((await resolveName(accountsOf("user")(caller), String(text))).id);
  return { ...settings, members: ids };
}
