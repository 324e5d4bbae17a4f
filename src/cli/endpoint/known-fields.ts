import type { ArgumentSpec, OptionSpec } from "./command-spec.ts";
import { accountsOf, keysOf, NAMED_BY, teamsOf } from "./named-resources.ts";
import { readAmount, readExpiry, readNote } from "./read-options.ts";

/** The options of fields that several endpoints have, and whose flags do not follow from their names. */
export const KNOWN_FIELDS: Readonly<Record<string, Pick<OptionSpec, "flags" | "named" | "read">>> = {
  account_id: { flags: "--account <account>", named: accountsOf() },
  user_id: { flags: "--user <user>", named: accountsOf("user") },
  owner: { flags: "--owner <user>", named: accountsOf("user") },
  team_id: { flags: "--team <team>", named: teamsOf },
  key_id: { flags: "--key <key>", named: keysOf },
  amount: { flags: "--amount <dollars>", read: readAmount },
  note: { flags: "--note <text>", read: readNote },
  expires_at: { flags: "--expires <time>", read: readExpiry },
  email: { flags: "--email <address>" },
  external_id: { flags: "--external-id <id>" },
  limit: { flags: "--limit <dollars>" },
  days: { flags: "--days <count>" },
  warn_at: { flags: "--warn-at <share>" },
  end_user: { flags: "--end-user <name>" },
  model: { flags: "--model <id>" },
  provider: { flags: "--provider <slug>" },
  error_type: { flags: "--error <type>" },
  issuer: { flags: "--issuer <url>" },
};

/** The arguments that several commands have. */
export const ARGUMENTS = {
  account: { name: "<account>", help: NAMED_BY.account, field: "params.id", named: accountsOf() },
  user: { name: "<user>", help: NAMED_BY.user, field: "user_id", named: accountsOf("user") },
  organization: {
    name: "<org>",
    help: NAMED_BY.organization,
    field: "id",
    named: accountsOf("organization"),
  },
  team: { name: "<team>", help: NAMED_BY.team, field: "team_id", named: teamsOf },
  key: { name: "<key>", help: NAMED_BY.key, field: "id", named: keysOf },
  amount: {
    name: "<amount>",
    help: "Amount in US dollars, such as 12.50",
    field: "amount",
    read: readAmount,
  },
  provider: { name: "<provider>", help: "Slug of the provider, such as openai", field: "provider" },
  generation: { name: "<id>", help: "ID of the generation, gen_…, or of its request, req_…", field: "id" },
} as const satisfies Readonly<Record<string, ArgumentSpec>>;
