import type { Command } from "commander";
import type { Stores } from "../app/wire-up.ts";
import { dateOf } from "../base/time.ts";
import { presentAccount } from "../core/accounts/account-fields.ts";
import {
  type AccountChange,
  changeAccount,
  createAccount,
  findAccount,
} from "../core/accounts/manage-accounts.ts";
import { presentMember } from "../core/accounts/member-fields.ts";
import type { AccountRecord } from "../core/accounts/records.ts";
import type { KnownNames } from "../core/catalog/known-names.ts";
import { auditCommand } from "./audit-command.ts";
import { formatFields, formatTable } from "./format-table.ts";
import { printLimit } from "./print-values.ts";
import {
  addRateLimitOptions,
  describeOptions,
  type RateLimitOptions,
  readChoice,
  readDollars,
  readList,
  readName,
  readRateLimit,
} from "./read-options.ts";
import { withNames, withStores } from "./with-stores.ts";

type Kind = AccountRecord["kind"];

/** Accounts that are read at once. */
const PAGE = 500;

/** What users and organizations are called in commands. */
const WORDS: Record<Kind, { readonly group: string; readonly many: string; readonly id: string }> = {
  user: { group: "users", many: "users", id: "user_…" },
  organization: { group: "orgs", many: "organizations", id: "org_…" },
};

/** `gateway users` and `gateway orgs`: `create`, `list`, `show`, `update`, `close` and `reopen`. */
export function addAccountCommands(program: Command, kind: Kind): void {
  const { group, many, id } = WORDS[kind];
  const commands = program.command(group).description(`make, list, change and close ${many}`);
  const create = commands
    .command("create")
    .description(kind === "user" ? "make a user" : "make an organization")
    .argument("<name>", "what it is called")
    .option("--json", "print JSON")
    .action((name: string, options: AccountOptions) =>
      withNames((stores, known) => createOne(stores, known, kind, name, options)),
    );
  if (kind === "organization") create.option("--owner <user>", "its first owner, user_…");
  addAccountOptions(create, kind);
  commands
    .command("list")
    .description(`list ${many}, newest first`)
    .option("--json", "print JSON")
    .action((options: JsonOption) => withStores((stores) => list(stores, kind, options)));
  commands
    .command("show")
    .description("show one with its policy")
    .argument("<id>", id)
    .option("--json", "print JSON")
    .action((id: string, options: JsonOption) => withStores((stores) => show(stores, kind, id, options)));
  const update = commands
    .command("update")
    .description("change what is given, leave the rest; a running gateway follows within a second")
    .argument("<id>", id)
    .option("--name <name>", "another name")
    .option("--json", "print JSON")
    .action((id: string, options: AccountOptions) =>
      withNames((stores, known) =>
        change(stores, known, kind, id, "update", readChange(options), describeOptions(options), options),
      ),
    );
  addAccountOptions(update, kind);
  for (const [word, isClosed, description] of STATES) {
    commands
      .command(word)
      .description(description)
      .argument("<id>", id)
      .option("--json", "print JSON")
      .action((id: string, options: JsonOption) =>
        withNames((stores, known) =>
          change(stores, known, kind, id, word, { isClosed }, { closed: isClosed }, options),
        ),
      );
  }
}

const STATES = [
  ["close", true, "close the account: it calls nothing and keeps its ledger"],
  ["reopen", false, "open a closed account again"],
] as const;

interface JsonOption {
  readonly json?: boolean;
}

interface AccountOptions extends JsonOption, RateLimitOptions {
  readonly name?: string;
  readonly owner?: string;
  readonly overdraft?: string;
  readonly monthlyLimit?: string;
  readonly allowedModels?: string;
  readonly deniedModels?: string;
  readonly allowedProviders?: string;
  readonly deniedProviders?: string;
  readonly dataCollection?: string;
  readonly retention?: string;
  readonly ownKeysOnly?: string;
}

function addAccountOptions(command: Command, kind: Kind): void {
  command.option("--overdraft <dollars>", "how far below zero its balance may go; none: no bound");
  if (kind === "organization")
    command.option("--monthly-limit <dollars>", "what all members may spend in a month; none: no limit");
  command
    .option("--allowed-models <patterns>", "the models it may call, between commas; none: all")
    .option("--denied-models <patterns>", "models it may not call")
    .option("--allowed-providers <slugs>", "the providers it may use; none: all")
    .option("--denied-providers <slugs>", "providers it may not use")
    .option("--data-collection <allow|deny>", "whether providers may train on its requests")
    .option("--retention <allow|deny>", "whether providers may keep its requests")
    .option("--own-keys-only <yes|no>", "whether it is served by its own keys at providers alone");
  addRateLimitOptions(command);
}

function readChange(options: AccountOptions): AccountChange {
  return {
    name: options.name === undefined ? undefined : readName(options.name),
    overdraft: readDollars("--overdraft", options.overdraft),
    monthlyLimit: readDollars("--monthly-limit", options.monthlyLimit),
    policy: {
      allowedModels: readList("--allowed-models", options.allowedModels),
      deniedModels: readList("--denied-models", options.deniedModels) ?? noneOf(options.deniedModels),
      allowedProviders: readList("--allowed-providers", options.allowedProviders),
      deniedProviders:
        readList("--denied-providers", options.deniedProviders) ?? noneOf(options.deniedProviders),
      denyDataCollection: readDenial("--data-collection", options.dataCollection),
      zeroRetention: readDenial("--retention", options.retention),
      ownKeysOnly: readChoice("--own-keys-only", options.ownKeysOnly, ["yes", "no"]),
    },
    rateLimit: readRateLimit(options),
  };
}

/** `none` denies nothing. */
function noneOf(text: string | undefined): readonly string[] | undefined {
  return text === undefined ? undefined : [];
}

function readDenial(option: string, text: string | undefined): boolean | undefined {
  return readChoice(option, text, ["deny", "allow"]);
}

async function createOne(
  stores: Stores,
  known: () => KnownNames,
  kind: Kind,
  text: string,
  options: AccountOptions,
): Promise<string> {
  const name = readName(text);
  const account = await createAccount(stores, known, {
    kind,
    settings: { ...readChange(options), name },
    ownerId: options.owner,
  });
  await auditCommand(stores, {
    action: `gateway ${WORDS[kind].group} create`,
    accountId: account.id,
    target: account.id,
    changes: { ...describeOptions(options), name },
  });
  return options.json ? printJson(account) : `${account.id} (${account.name}) is made.`;
}

async function list(stores: Stores, kind: Kind, { json }: JsonOption): Promise<string> {
  const accounts = await readAll(stores, kind);
  const { many, group } = WORDS[kind];
  if (json) return JSON.stringify({ data: accounts.map(presentAccount) });
  if (accounts.length === 0) return `There are no ${many}. Make one: gateway ${group} create <name>`;
  const isOrganization = kind === "organization";
  const rows = accounts.map((account) => [
    account.id,
    account.name,
    printLimit(account.overdraft),
    ...(isOrganization ? [printLimit(account.monthlyLimit)] : []),
    dateOf(account.createdAt),
    account.closedAt === null ? "open" : `closed ${dateOf(account.closedAt)}`,
  ]);
  const headings = ["id", "name", "overdraft", ...(isOrganization ? ["a month"] : []), "created", "state"];
  return formatTable(headings, rows);
}

async function readAll({ accounts }: Stores, kind: Kind): Promise<readonly AccountRecord[]> {
  const all: AccountRecord[] = [];
  for (;;) {
    const page = await accounts.listAccounts(kind, all.at(-1)?.id ?? null, PAGE);
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}

async function show({ accounts }: Stores, kind: Kind, id: string, { json }: JsonOption): Promise<string> {
  const account = presentAccount(await findAccount(accounts, kind, id));
  if (kind === "organization") return json ? JSON.stringify({ data: account }) : formatFields(account);
  const memberships = (await accounts.listMemberships(id)).map(presentMember);
  if (json) return JSON.stringify({ data: { ...account, memberships } });
  const roles = memberships.map(({ organization_id, role }) => `${role} of ${organization_id}`);
  return formatFields({ ...account, memberships: roles.length === 0 ? null : roles.join(", ") });
}

async function change(
  stores: Stores,
  known: () => KnownNames,
  kind: Kind,
  id: string,
  word: string,
  wanted: AccountChange,
  changes: Record<string, unknown>,
  { json }: JsonOption,
): Promise<string> {
  const account = await changeAccount(stores, known, { kind, id, change: wanted });
  const action = `gateway ${WORDS[kind].group} ${word}`;
  await auditCommand(stores, { action, accountId: id, target: id, changes });
  if (json) return printJson(account);
  return `${account.id} (${account.name}) is ${account.closedAt === null ? "open" : "closed"}${word === "update" ? " and changed" : ""}.`;
}

function printJson(account: AccountRecord): string {
  return JSON.stringify({ data: presentAccount(account) });
}
