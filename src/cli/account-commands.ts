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

/** Accounts that are read per page. */
const PAGE = 500;

/** The words for users and organizations in commands and messages. */
const WORDS: Record<Kind, { readonly group: string; readonly many: string; readonly id: string }> = {
  user: { group: "users", many: "users", id: "user_…" },
  organization: { group: "orgs", many: "organizations", id: "org_…" },
};

/** `gateway users` and `gateway orgs`: `create`, `list`, `show`, `update`, `close` and `reopen`. */
export function addAccountCommands(program: Command, kind: Kind): void {
  const { group, many, id } = WORDS[kind];
  const commands = program.command(group).description(`Manage ${many}`);
  const create = commands
    .command("create")
    .description(kind === "user" ? "Create a user" : "Create an organization")
    .argument("<name>", "Display name")
    .option("--json", "Print JSON")
    .action((name: string, options: AccountOptions) =>
      withNames((stores, known) => createOne(stores, known, kind, name, options)),
    );
  if (kind === "organization") create.option("--owner <user>", "User that becomes the first owner, user_…");
  addAccountOptions(create, kind);
  commands
    .command("list")
    .description(`List ${many}, newest first`)
    .option("--json", "Print JSON")
    .action((options: JsonOption) => withStores((stores) => list(stores, kind, options)));
  commands
    .command("show")
    .description(kind === "user" ? "Show a user and its memberships" : "Show an organization")
    .argument("<id>", id)
    .option("--json", "Print JSON")
    .action((id: string, options: JsonOption) => withStores((stores) => show(stores, kind, id, options)));
  const update = commands
    .command("update")
    .description("Change the given fields; a running gateway applies them within a second")
    .argument("<id>", id)
    .option("--name <name>", "New display name")
    .option("--json", "Print JSON")
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
      .option("--json", "Print JSON")
      .action((id: string, options: JsonOption) =>
        withNames((stores, known) =>
          change(stores, known, kind, id, word, { isClosed }, { closed: isClosed }, options),
        ),
      );
  }
}

const STATES = [
  ["close", true, "Close an account: its keys stop working, its ledger stays"],
  ["reopen", false, "Reopen a closed account"],
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
  command.option(
    "--overdraft <dollars>",
    "How far the balance may go below zero, in US dollars, or none for no bound",
  );
  if (kind === "organization")
    command.option(
      "--monthly-limit <dollars>",
      "Monthly spending limit of all members together in US dollars, or none",
    );
  command
    .option(
      "--allowed-models <patterns>",
      "Models that the account may call, comma-separated, or none for all",
    )
    .option("--denied-models <patterns>", "Models that the account may not call, comma-separated, or none")
    .option(
      "--allowed-providers <slugs>",
      "Providers that may serve the account, comma-separated, or none for all",
    )
    .option(
      "--denied-providers <slugs>",
      "Providers that may not serve the account, comma-separated, or none",
    )
    .option("--data-collection <allow|deny>", "Whether providers that train on prompts may serve the account")
    .option("--retention <allow|deny>", "Whether providers that retain prompts may serve the account")
    .option("--own-keys-only <yes|no>", "Whether only the account's own provider keys (BYOK) may serve it");
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

/** Reads `none` as an empty deny list. */
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
  return options.json ? printJson(account) : `Created ${account.id} (${account.name}).`;
}

async function list(stores: Stores, kind: Kind, { json }: JsonOption): Promise<string> {
  const accounts = await readAll(stores, kind);
  const { many, group } = WORDS[kind];
  if (json) return JSON.stringify({ data: accounts.map(presentAccount) });
  if (accounts.length === 0) return `No ${many}. Create one: gateway ${group} create <name>`;
  const isOrganization = kind === "organization";
  const rows = accounts.map((account) => [
    account.id,
    account.name,
    printLimit(account.overdraft),
    ...(isOrganization ? [printLimit(account.monthlyLimit)] : []),
    dateOf(account.createdAt),
    account.closedAt === null ? "open" : `closed ${dateOf(account.closedAt)}`,
  ]);
  const headings = [
    "id",
    "name",
    "overdraft",
    ...(isOrganization ? ["monthly limit"] : []),
    "created",
    "state",
  ];
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

type Word = "update" | "close" | "reopen";

const OUTCOMES: Readonly<Record<Word, string>> = { update: "Updated", close: "Closed", reopen: "Reopened" };

async function change(
  stores: Stores,
  known: () => KnownNames,
  kind: Kind,
  id: string,
  word: Word,
  wanted: AccountChange,
  changes: Record<string, unknown>,
  { json }: JsonOption,
): Promise<string> {
  const account = await changeAccount(stores, known, { kind, id, change: wanted });
  const action = `gateway ${WORDS[kind].group} ${word}`;
  await auditCommand(stores, { action, accountId: id, target: id, changes });
  if (json) return printJson(account);
  return `${OUTCOMES[word]} ${account.id} (${account.name}).`;
}

function printJson(account: AccountRecord): string {
  return JSON.stringify({ data: presentAccount(account) });
}
