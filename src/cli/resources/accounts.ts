import type { Command } from "commander";
import type { Stores } from "../../app/stores.ts";
import { dateOf } from "../../base/time.ts";
import {
  ACCOUNT_SETTINGS,
  ORGANIZATION_SETTINGS,
  presentAccount,
  USER_SETTINGS,
} from "../../core/accounts/account-fields.ts";
import { type AccountChange, changeAccount, createAccount } from "../../core/accounts/manage-accounts.ts";
import { presentMember } from "../../core/accounts/member-fields.ts";
import type { AccountRecord } from "../../core/accounts/records.ts";
import { type NamedStores, withNames, withStores } from "../callers/with-stores.ts";
import { addFieldOptions, type GivenOptions, readFieldOptions } from "../endpoint/field-options.ts";
import { NAMED_BY, resolveAccount } from "../endpoint/named-resources.ts";
import {
  addExamples,
  addJsonOption,
  auditedOptions,
  type JsonOption,
  readName,
} from "../endpoint/read-options.ts";
import { auditCommand } from "../operate/audit-command.ts";
import { formatFields, formatTable } from "../render/format-table.ts";
import { printLimit } from "../render/print-values.ts";

type Kind = AccountRecord["kind"];

/** Accounts that are read per page. */
const PAGE = 500;

/** The words for users and organizations in commands and messages. */
const WORDS: Record<Kind, { readonly group: string; readonly many: string; readonly argument: string }> = {
  user: { group: "users", many: "users", argument: "<user>" },
  organization: { group: "orgs", many: "organizations", argument: "<org>" },
};

/** The options of a new account: its name is an argument. */
const { name: NAME, ...NEW_ORGANIZATION_OPTIONS } = ORGANIZATION_SETTINGS;
const { name: _, ...NEW_USER_OPTIONS } = USER_SETTINGS;

/** `gateway users`. */
export function declareUserCommands(users: Command): void {
  declareAccountCommands(users, "user");
}

/** `gateway orgs`. */
export function declareOrganizationCommands(organizations: Command): void {
  declareAccountCommands(organizations, "organization");
}

/** The commands of both: `create`, `list`, `show`, `update`, `close` and `reopen`. */
function declareAccountCommands(commands: Command, kind: Kind): void {
  const { many, argument } = WORDS[kind];
  addCreateCommand(commands, kind);
  addJsonOption(commands.command("list").description(`List ${many}, newest first`)).action(
    (options: JsonOption) => withStores((stores) => list(stores, kind, options)),
  );
  addJsonOption(
    commands
      .command("show")
      .description(kind === "user" ? "Show a user and its memberships" : "Show an organization")
      .argument(argument, NAMED_BY[kind]),
  ).action((text: string, options: JsonOption) =>
    withStores((stores) => show(stores, { kind, text }, options)),
  );
  addUpdateCommand(commands, kind);
  for (const [word, isClosed, description] of STATES) {
    addJsonOption(commands.command(word).description(description).argument(argument, NAMED_BY[kind])).action(
      (text: string, { json }: JsonOption) => {
        const change = { kind, text, word, wanted: { isClosed }, changes: { closed: isClosed }, json };
        return withNames((named) => changeOne(named, change));
      },
    );
  }
}

const STATES = [
  ["close", true, "Close an account: its keys stop working, its ledger stays"],
  ["reopen", false, "Reopen a closed account"],
] as const;

function addCreateCommand(commands: Command, kind: Kind): void {
  const command = commands
    .command("create")
    .description(kind === "user" ? "Create a user" : "Create an organization")
    .argument("<name>", NAME.option?.help);
  if (kind === "organization") command.option("--owner <user>", "User that becomes the first owner");
  addFieldOptions(command, kind === "user" ? NEW_USER_OPTIONS : NEW_ORGANIZATION_OPTIONS, "new");
  addExamples(
    command,
    kind === "user"
      ? [
          "gateway users create Ada --email ada@example.com --overdraft 5",
          "gateway users create Bob --retention deny",
        ]
      : ["gateway orgs create Acme --owner ada@example.com --monthly-limit 500"],
  );
  addJsonOption(command).action((name: string, options: NewOptions) =>
    withNames((named) => createOne(named, { kind, name, options })),
  );
}

function addUpdateCommand(commands: Command, kind: Kind): void {
  const command = commands
    .command("update")
    .description("Change the given fields; a running gateway applies them within a second")
    .argument(WORDS[kind].argument, NAMED_BY[kind]);
  addFieldOptions(command, kind === "user" ? USER_SETTINGS : ORGANIZATION_SETTINGS, "change");
  addJsonOption(command).action((text: string, options: UpdateOptions) =>
    withNames((named) => {
      const wanted = readFieldOptions(ACCOUNT_SETTINGS, options, named.stores.clock.now());
      const changes = auditedOptions(options);
      return changeOne(named, { kind, text, word: "update", wanted, changes, json: options.json });
    }),
  );
}

interface UpdateOptions extends GivenOptions, JsonOption {}

interface NewOptions extends UpdateOptions {
  readonly owner?: string;
}

interface NewOne {
  readonly kind: Kind;
  readonly name: string;
  readonly options: NewOptions;
}

async function createOne({ stores, known }: NamedStores, { kind, name: text, options }: NewOne) {
  const name = readName(text);
  const settings = { ...readFieldOptions(ACCOUNT_SETTINGS, options, stores.clock.now()), name };
  const ownerId = await findOwner(stores, options);
  const account = await createAccount(stores, known, { kind, settings, ownerId });
  await auditCommand(stores, {
    action: `gateway ${WORDS[kind].group} create`,
    accountId: account.id,
    target: account.id,
    changes: { ...auditedOptions(options), ...(ownerId === undefined ? {} : { owner: ownerId }), name },
  });
  return options.json ? printJson(account) : `Created ${account.id} (${account.name}).`;
}

async function findOwner(stores: Stores, { owner }: NewOptions): Promise<string | undefined> {
  return owner === undefined ? undefined : (await resolveAccount(stores, owner, { kind: "user" })).id;
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
    ...(isOrganization ? [] : [account.email ?? ""]),
    printLimit(account.overdraft),
    ...(isOrganization ? [printLimit(account.monthlyLimit)] : []),
    dateOf(account.createdAt),
    account.closedAt === null ? "open" : `closed ${dateOf(account.closedAt)}`,
  ]);
  const headings = [
    "id",
    "name",
    ...(isOrganization ? [] : ["e-mail"]),
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
    const page = await accounts.listAccounts({ kind, afterId: all.at(-1)?.id, limit: PAGE });
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}

/** An account, as the argument of a command names it. */
interface OneAccount {
  readonly kind: Kind;
  readonly text: string;
}

async function show(stores: Stores, { kind, text }: OneAccount, { json }: JsonOption): Promise<string> {
  const found = await resolveAccount(stores, text, { kind });
  const account = presentAccount(found);
  if (kind === "organization") return json ? JSON.stringify({ data: account }) : formatFields(account);
  const memberships = (await stores.accounts.listMemberships(found.id)).map(presentMember);
  if (json) return JSON.stringify({ data: { ...account, memberships } });
  const roles = memberships.map(({ organization_id, role }) => `${role} of ${organization_id}`);
  return formatFields({ ...account, memberships: roles.length === 0 ? null : roles.join(", ") });
}

type Word = "update" | "close" | "reopen";

const OUTCOMES: Readonly<Record<Word, string>> = { update: "Updated", close: "Closed", reopen: "Reopened" };

interface ChangeOfOne extends OneAccount, JsonOption {
  readonly word: Word;
  readonly wanted: AccountChange;
  /** The change as the audit log records it. */
  readonly changes: Readonly<Record<string, unknown>>;
}

async function changeOne({ stores, known }: NamedStores, change: ChangeOfOne): Promise<string> {
  const { kind, text, word, wanted, changes, json } = change;
  const state = word === "reopen" ? "closed" : "open";
  const { id } = await resolveAccount(stores, text, { kind, state });
  const account = await changeAccount(stores, known, { kind, id, change: wanted });
  const action = `gateway ${WORDS[kind].group} ${word}`;
  await auditCommand(stores, { action, accountId: id, target: id, changes });
  if (json) return printJson(account);
  return `${OUTCOMES[word]} ${account.id} (${account.name}).`;
}

function printJson(account: AccountRecord): string {
  return JSON.stringify({ data: presentAccount(account) });
}
