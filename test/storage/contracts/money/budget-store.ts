import { describe, expect, test } from "bun:test";
import { dayOf } from "../../../../src/base/time/time.ts";
import type { BudgetRecord } from "../../../../src/core/accounts/records/budget-records.ts";
import { type BudgetStore, MAX_BUDGETS } from "../../../../src/core/accounts/stores/budget-store.ts";
import type { KeyStore } from "../../../../src/core/accounts/stores/key-store.ts";
import type { UsageStore } from "../../../../src/core/usage/reports/usage-store.ts";
import { keyOf, usageOf } from "../samples.ts";

const TODAY = dayOf(Date.UTC(2027, 0, 31, 12));
const at = (day: number) => day * 86_400_000 + 3_600_000;
const COST = { accountId: "user_a", costNanodollars: 30 };
const ALL = { from: 0, to: 100_000 };

function budgetOf(id: string, fields: Partial<BudgetRecord> = {}): BudgetRecord {
  return {
    id,
    accountId: "user_a",
    name: id,
    subject: "account",
    subjectId: null,
    endUser: null,
    limit: 1_000,
    period: "day",
    days: null,
    action: "block",
    warnAt: 800,
    setBy: "operator",
    createdAt: 5_000,
    ...fields,
  };
}

interface Connected {
  readonly budgets: BudgetStore;
  readonly usage: UsageStore;
  readonly keys: KeyStore;
}

/** The contract of a `BudgetStore`, with the store that saves the costs that budgets count. */
export function testBudgetStore(connect: () => Connected | Promise<Connected>): void {
  describe("a budget store", () => {
    const sum = async (budgets: BudgetStore, budgetId: string, fields: object = {}) =>
      (await budgets.listTopSums({ budgetId, days: ALL, limit: 10, ...fields })).map(
        ({ value, spent }) => `${value}=${spent}`,
      );

    test("stores budgets for other connections too, by account and all together in the order of their ids", async () => {
      const [{ budgets }, there] = [await connect(), await connect()];
      const rolling = budgetOf("budget_2", { period: "rolling", days: 30, subject: "tag", subjectId: "a" });
      await budgets.insertBudget(rolling);
      await budgets.insertBudget(budgetOf("budget_1"));
      await budgets.insertBudget(budgetOf("budget_3", { accountId: "org_b", endUser: "Ada" }));
      expect(await there.budgets.listBudgets("user_a")).toEqual([budgetOf("budget_1"), rolling]);
      expect((await budgets.listAllBudgets({ afterId: "budget_1", limit: 2 })).map(({ id }) => id)).toEqual([
        "budget_2",
        "budget_3",
      ]);
      const found = await budgets.listAllBudgets({ search: "GET_3", afterId: null, limit: 9 });
      expect(found.map(({ id }) => id)).toEqual(["budget_3"]);
      expect(await budgets.listAllBudgets({ search: "%", afterId: null, limit: 9 })).toEqual([]);
      expect(await budgets.findBudget("budget_2")).toEqual(rolling);
      expect(await budgets.findBudget("budget_9")).toBeNull();
    });

    test("changes and deletes a budget, and tells whether there was one", async () => {
      const { budgets } = await connect();
      await budgets.insertBudget(budgetOf("budget_1"));
      const changed = await budgets.changeBudget("budget_1", (one) => ({ ...one, limit: 5, action: "warn" }));
      expect(changed).toEqual(budgetOf("budget_1", { limit: 5, action: "warn" }));
      expect(await budgets.findBudget("budget_1")).toEqual(changed);
      expect(await budgets.changeBudget("budget_9", (one) => one)).toBeNull();
      expect(await budgets.deleteBudget("budget_1")).toBe(true);
      expect(await budgets.deleteBudget("budget_1")).toBe(false);
    });

    test("rejects a budget beyond the maximum of an account", async () => {
      const { budgets } = await connect();
      for (let count = 0; count < MAX_BUDGETS; count++)
        expect(await budgets.insertBudget(budgetOf(`budget_${count}`))).toBe(true);
      expect(await budgets.insertBudget(budgetOf("budget_more"))).toBe(false);
      expect(await budgets.insertBudget(budgetOf("budget_other", { accountId: "org_b" }))).toBe(true);
    });

    test("counts what was saved before a budget was set and afterwards, each record once", async () => {
      const { budgets, usage } = await connect();
      const first = usageOf("gen_1", { ...COST, keyId: "key_a", createdAt: at(TODAY) });
      await usage.saveUsage([first]);
      await budgets.insertBudget(budgetOf("budget_1"));
      await budgets.insertBudget(budgetOf("budget_2", { subject: "key", subjectId: "key_b" }));
      const later = usageOf("gen_2", { ...COST, keyId: "key_b", createdAt: at(TODAY - 1) });
      await usage.saveUsage([later, first]);
      await usage.saveUsage([later]);
      expect(await sum(budgets, "budget_1")).toEqual(["=60"]);
      expect(await sum(budgets, "budget_1", { days: { from: TODAY, to: TODAY } })).toEqual(["=30"]);
      expect(await sum(budgets, "budget_2")).toEqual(["=30"]);
    });

    test("sums for each end user and each tag, the most first", async () => {
      const { budgets, usage } = await connect();
      await budgets.insertBudget(budgetOf("budget_u", { subject: "end_user" }));
      await budgets.insertBudget(budgetOf("budget_t", { subject: "tag" }));
      const cost = (id: string, costNanodollars: number, fields: object) =>
        usageOf(id, { accountId: "user_a", createdAt: at(TODAY), costNanodollars, ...fields });
      await usage.saveUsage([
        cost("gen_1", 10, { endUser: "u_a", tags: ["x", "y"] }),
        cost("gen_2", 20, { endUser: "u_b", tags: ["y"] }),
        cost("gen_3", 40, { accountId: "user_z", endUser: "u_a", tags: ["y"] }),
        cost("gen_4", 80, {}),
      ]);
      expect(await sum(budgets, "budget_u")).toEqual(["u_b=20", "u_a=10"]);
      expect(await sum(budgets, "budget_t")).toEqual(["y=30", "x=10"]);
      expect(await sum(budgets, "budget_t", { limit: 1 })).toEqual(["y=30"]);
      const query = (budgetId: string, value: string, days = ALL) => ({ budgetId, value, days });
      const sums = [
        query("budget_t", "x"),
        query("budget_u", "u_b"),
        query("budget_t", "none"),
        query("budget_t", "y", { from: 0, to: TODAY - 1 }),
        query("budget_t", "y"),
      ];
      expect(await budgets.sumBudgets(sums)).toEqual([10, 20, 0, 0, 30]);
    });

    test("counts a cost of one nanodollar, and lists no tag that has cost nothing", async () => {
      const { budgets, usage } = await connect();
      await budgets.insertBudget(budgetOf("budget_1", { subject: "tag" }));
      const cost = (id: string, costNanodollars: number, tag: string) =>
        usageOf(id, { accountId: "user_a", createdAt: at(TODAY), costNanodollars, tags: [tag] });
      await usage.saveUsage([cost("gen_1", 1, "least"), cost("gen_2", 0, "free")]);
      expect(await sum(budgets, "budget_1")).toEqual(["least=1"]);
    });

    test("a new budget of tags begins with what was spent before, of each tag or of one", async () => {
      const { budgets, usage } = await connect();
      await usage.saveUsage([
        usageOf("gen_1", { ...COST, createdAt: at(TODAY), tags: ["x", "y"] }),
        usageOf("gen_2", { ...COST, createdAt: at(TODAY - 1), tags: ["y"] }),
        usageOf("gen_3", { ...COST, createdAt: at(TODAY) }),
      ]);
      await budgets.insertBudget(budgetOf("budget_1", { subject: "tag" }));
      await budgets.insertBudget(budgetOf("budget_2", { subject: "tag", subjectId: "y" }));
      expect(await sum(budgets, "budget_1")).toEqual(["y=60", "x=30"]);
      expect(await sum(budgets, "budget_2")).toEqual(["=60"]);
    });

    test("a new budget of a team begins with what its keys have spent, also revoked ones, and goes on with its records", async () => {
      const { budgets, usage, keys } = await connect();
      const teams = { key_1: "team_1", key_2: "team_1", key_3: "team_2", key_4: null };
      for (const [id, teamId] of Object.entries(teams)) await keys.insertKey(keyOf(id, { teamId }));
      await keys.revokeKey("key_2", at(TODAY));
      const spend = (id: string, keyId: keyof typeof teams, day = TODAY) =>
        usageOf(id, { ...COST, keyId, teamId: teams[keyId] ?? undefined, createdAt: at(day) });
      await usage.saveUsage([
        spend("gen_1", "key_1"),
        spend("gen_2", "key_2", TODAY - 1),
        spend("gen_3", "key_3"),
        spend("gen_4", "key_4"),
      ]);
      const ofTeam = { subject: "team", subjectId: "team_1" } as const;
      await budgets.insertBudget(budgetOf("budget_1", { ...ofTeam, createdAt: at(TODAY), period: "month" }));
      await budgets.insertBudget(budgetOf("budget_2", { ...ofTeam, createdAt: at(TODAY), period: "day" }));
      const now = [spend("gen_5", "key_1"), spend("gen_6", "key_3"), spend("gen_7", "key_4")];
      await usage.saveUsage(now);
      await usage.saveUsage(now);
      expect([await sum(budgets, "budget_1"), await sum(budgets, "budget_2")]).toEqual([["=90"], ["=60"]]);
    });

    test("a mark can be claimed once", async () => {
      const { budgets } = await connect();
      const mark = { budgetId: "budget_1", value: "", since: TODAY, level: "warning" } as const;
      const claims = await Promise.all([1, 2, 3].map(() => budgets.claimMarks([mark])));
      expect(claims.flat().filter((isFirst) => isFirst)).toHaveLength(1);
      const next = { ...mark, since: TODAY + 1 };
      expect(await budgets.claimMarks([next, mark, { ...mark, level: "reached" }])).toEqual([
        true,
        false,
        true,
      ]);
    });

    test("deletes the marks of earlier days alone, so that only they can be claimed again", async () => {
      const { budgets } = await connect();
      const markOf = (budgetId: string, value: string, since: number) =>
        ({ budgetId, value, since, level: "warning" }) as const;
      const old = [markOf("budget_1", "", TODAY - 1), markOf("budget_2", "x", TODAY - 2)];
      const present = [markOf("budget_1", "y", TODAY), markOf("budget_2", "x", TODAY)];
      await budgets.claimMarks([...old, ...present]);
      await budgets.mergeDays(TODAY);
      expect(await budgets.claimMarks([...old, ...present])).toEqual([true, true, false, false]);
    });

    test("merges old days into one of budgets in total, and deletes those of others", async () => {
      const { budgets, usage } = await connect();
      await budgets.insertBudget(budgetOf("budget_1", { period: "total" }));
      await budgets.insertBudget(budgetOf("budget_2"));
      await usage.saveUsage([
        usageOf("gen_1", { ...COST, createdAt: at(TODAY - 1) }),
        usageOf("gen_2", { ...COST, createdAt: at(TODAY) }),
      ]);
      await budgets.mergeDays(TODAY);
      await budgets.mergeDays(TODAY);
      expect(await sum(budgets, "budget_1")).toEqual(["=60"]);
      expect(await sum(budgets, "budget_2")).toEqual(["=30"]);
    });
  });
}
