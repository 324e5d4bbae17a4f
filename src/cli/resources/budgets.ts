import type { Command } from "commander";
import type { z } from "zod";
import type { Stores } from "../../app/stores.ts";
import {
  BudgetChangeInput,
  BudgetInput,
  presentBudget,
  readBudgetChange,
} from "../../core/accounts/budget-fields.ts";
import type { BudgetRecord } from "../../core/accounts/budget-records.ts";
import { changeBudget, createBudget } from "../../core/accounts/manage-budgets.ts";
import { DEFAULT_ACCOUNT_ID } from "../../core/accounts/records.ts";
import { createIdentityHash, hashEndUser } from "../../core/generation/identity-hash.ts";
import { readBudgetStatus } from "../../core/ledger/budget-status.ts";
import { withStores } from "../callers/with-stores.ts";
import { resolveAccount, resolveKey, resolveScope } from "../endpoint/named-resources.ts";
import { addExamples, addJsonOption, type JsonOption } from "../endpoint/read-options.ts";
import { auditCommand } from "../operate/audit-command.ts";
import { formatFields, formatTable } from "../render/format-table.ts";

/** Budgets that are read per page. */
const PAGE = 500;

interface Options extends JsonOption {
  readonly account?: string;
  readonly key?: string;
  readonly user?: string;
  readonly [name: string]: unknown;
}

/** `gateway budgets …`: limits on what accounts spend in each period. A gateway may be running on the same stores. */
export function declareBudgetCommands(budgets: Command): void {
  addJsonOption(
    budgets
      .command("list")
      .description("List budgets with what is spent of each")
      .option("--account <account>", "Only the budgets of this account"),
  ).action((options: Options) => withStores((stores) => list(stores, options)));
  addJsonOption(
    budgets.command("show").description("Show a budget").argument("<id>", "ID of the budget, budget_…"),
  ).action((id: string, options: Options) => withStores((stores) => show(stores, id, options)));
  addCreateCommand(budgets);
  addUpdateCommand(budgets);
  addJsonOption(
    budgets
      .command("delete")
      .description("Delete a budget; a running gateway stops using it within a second")
      .argument("<id>", "ID of the budget, budget_…"),
  ).action((id: string, options: Options) => withStores((stores) => remove(stores, id, options)));
}

function addCreateCommand(budgets: Command): void {
  const command = budgets
    .command("create")
    .description("Create a budget; a running gateway uses it within a second")
    .requiredOption("--limit <dollars>", "US dollars in each period")
    .option("--account <account>", "Account that pays (default: that of the key, or the operator's own)")
    .option("--key <key>", "Only this API key of the account")
    .option("--user <user>", "Only this member of the organization")
    .option("--end-user <name>", "Only this end user, or '*' for each")
    .option("--tag <tag>", "Only this tag, or '*' for each")
    .option("--period <period>", "total, day, week, month or rolling (default: month)")
    .option("--days <count>", "Length of a rolling period, 1 to 365")
    .option("--name <name>", "Display name");
  addReactionOptions(command);
  addExamples(command, [
    "gateway budgets create --account Acme --limit 500 --period month",
    "gateway budgets create --end-user '*' --limit 2 --period day --action warn",
    "gateway budgets create --tag batch --limit 50 --period rolling --days 7",
  ]);
  addJsonOption(command).action((options: Options) => withStores((stores) => create(stores, options)));
}

function addUpdateCommand(budgets: Command): void {
  const command = budgets
    .command("update")
    .description("Change a budget; its subject and period stay")
    .argument("<id>", "ID of the budget, budget_…")
    .option("--limit <dollars>", "US dollars in each period")
    .option("--name <name>", "Display name");
  addReactionOptions(command);
  addJsonOption(command).action((id: string, options: Options) =>
    withStores((stores) => update(stores, id, options)),
  );
}

function addReactionOptions(command: Command): void {
  command
    .option("--action <action>", "At the limit: block rejects requests, warn does not (new: block)")
    .option("--warn-at <share>", "Share of the limit from which on there are warnings (new: 0.8)");
}

async function create(stores: Stores, options: Options): Promise<string> {
  const key = options.key === undefined ? undefined : await resolveKey(stores, options.key);
  const owner = options.account ?? key?.accountId ?? DEFAULT_ACCOUNT_ID;
  const { id: accountId } = await resolveAccount(stores, owner);
  const { userId } = await resolveScope(stores, { user: options.user });
  const { account_id: _, ...budget } = readBody(BudgetInput, {
    ...readCommon(options),
    key_id: key?.id,
    user_id: userId ?? undefined,
    end_user: options["endUser"],
    tag: options["tag"],
    period: options["period"],
    days: readNumber(options["days"]),
  });
  const hash = budget.end_user === undefined ? null : createIdentityHash(await readIdentitySecret(stores));
  const created = await createBudget(stores, {
    accountId,
    budget,
    setBy: "operator",
    hashEndUser: (name) => (hash === null ? name : hashEndUser(hash, accountId, name)),
  });
  await audit(stores, created, { word: "create", changes: budget });
  if (options.json) return show(stores, created.id, options);
  return `Created ${created.id} (${created.name}). A running gateway uses it within a second.`;
}

/** The secret exists from the first start of a gateway on. */
async function readIdentitySecret({ settings, random }: Stores): Promise<string> {
  await settings.addSetting("identity_secret", Buffer.from(random.bytes(32)).toString("hex"));
  return (await settings.findSetting("identity_secret")) as string;
}

async function update(stores: Stores, id: string, options: Options): Promise<string> {
  const body = readBody(BudgetChangeInput, readCommon(options));
  if (Object.keys(body).length === 0) throw new Error("nothing to change: give at least one option");
  await find(stores, id);
  const budget = await changeBudget(stores, id, readBudgetChange(body));
  await audit(stores, budget, { word: "update", changes: body });
  return options.json ? show(stores, id, options) : `Updated ${id} (${budget.name}).`;
}

async function remove(stores: Stores, id: string, { json }: Options): Promise<string> {
  const budget = await find(stores, id);
  await stores.budgets.deleteBudget(id);
  await audit(stores, budget, { word: "delete", changes: { before: budget, after: null } });
  return json ? JSON.stringify({ data: { id, deleted: true } }) : `Deleted ${id} (${budget.name}).`;
}

async function show(stores: Stores, id: string, { json }: Options): Promise<string> {
  const data = await present(stores, await find(stores, id));
  if (json) return JSON.stringify({ data });
  return formatFields({ ...data, top: JSON.stringify(data["top"]) });
}

async function list(stores: Stores, { account, json }: Options): Promise<string> {
  const { accountId } = await resolveScope(stores, { account });
  const budgets = accountId === null ? await listAll(stores) : await stores.budgets.listBudgets(accountId);
  const data = await Promise.all(budgets.map((budget) => present(stores, budget)));
  if (json) return JSON.stringify({ data });
  if (data.length === 0) return "No budgets. Create one: gateway budgets create --limit <dollars>";
  const rows = data.map((view) => [
    String(view["id"]),
    String(view["name"]),
    `$${view["limit"]}`,
    view["spent"] === null ? "" : `$${Number(Number(view["spent"]).toPrecision(4))}`,
    String(view["state"]),
  ]);
  return formatTable(["id", "name", "limit", "spent", "state"], rows);
}

async function listAll({ budgets }: Stores): Promise<readonly BudgetRecord[]> {
  const all: BudgetRecord[] = [];
  for (;;) {
    const page = await budgets.listAllBudgets(all.at(-1)?.id ?? null, PAGE);
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}

async function find({ budgets }: Stores, id: string): Promise<BudgetRecord> {
  const budget = await budgets.findBudget(id);
  if (budget === null) throw new Error(`No budget has the ID ${id}. List them: gateway budgets list`);
  return budget;
}

async function present({ budgets, clock }: Stores, budget: BudgetRecord) {
  return presentBudget(budget, await readBudgetStatus(budgets, budget, clock.now()));
}

function readCommon(options: Options): Record<string, unknown> {
  const { name, action } = options;
  return { name, action, limit: readNumber(options["limit"]), warn_at: readNumber(options["warnAt"]) };
}

/** Returns a number, or the text for the schema to reject. */
function readNumber(text: unknown): unknown {
  return typeof text === "string" && /^\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

/** @throws Error that names the first option that is not valid. */
function readBody<Schema extends z.ZodType>(
  schema: Schema,
  given: Readonly<Record<string, unknown>>,
): z.infer<Schema> {
  const values = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const { success, data, error } = schema.safeParse(values);
  if (success) return data;
  const [issue] = error.issues;
  const option = String(issue?.path[0] ?? "")
    .replace(/_id$/, "")
    .replaceAll("_", "-");
  throw new Error(`--${option}: ${issue?.message ?? "is not valid"}`);
}

function audit(
  stores: Stores,
  { id, accountId }: BudgetRecord,
  { word, changes }: { readonly word: string; readonly changes: object },
): Promise<void> {
  return auditCommand(stores, {
    action: `gateway budgets ${word}`,
    accountId,
    target: id,
    changes: changes as Record<string, unknown>,
  });
}
