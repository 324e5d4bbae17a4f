import { describe, expect, test } from "bun:test";
import type { Policy } from "../../../../src/console/api/schema.ts";
import {
  countRules,
  fromDraft,
  readNumber,
  switchForm,
  toDraft,
} from "../../../../src/console/screens/policy/policy-form.ts";
import {
  findBudgetProblem,
  NEW_BUDGET,
  readBudget,
  toBudgetChange,
  toNewBudget,
} from "../../../../src/console/state/accounts/budget-input.ts";

const POLICY: Policy = {
  allowed_models: null,
  denied_models: ["openai/*", "x/y"],
  allowed_providers: ["openai"],
  denied_providers: [],
  deny_data_collection: true,
  zero_retention: false,
  own_keys_only: false,
  prompt_caching: "off",
};

describe("the form of a policy", () => {
  test("a policy that is shown and not changed is the same", () => {
    expect(fromDraft(toDraft(POLICY))).toEqual({ policy: POLICY });
    expect(countRules(POLICY)).toBe(3);
  });

  test("an allow list without entries allows everything, and blank lines and commas separate entries", () => {
    const draft = { ...toDraft(POLICY), allowed_providers: " \n", denied_models: "a/b, c/*\n\n d/e " };
    expect(fromDraft(draft)).toEqual({
      policy: { ...POLICY, allowed_providers: null, denied_models: ["a/b", "c/*", "d/e"] },
    });
  });

  test("what was typed in the form is in the JSON, and the other way around", () => {
    const json = switchForm({ ...toDraft(POLICY), denied_models: "a/b" });
    if ("problem" in json) throw new Error(json.problem);
    expect(JSON.parse(json.json)).toMatchObject({ denied_models: ["a/b"], deny_data_collection: true });
    const form = switchForm({ ...json, json: '{"denied_providers": ["x"]}' });
    expect(form).toMatchObject({ isJson: false, denied_providers: "x", denied_models: "" });
  });

  test("JSON that cannot be read is not left, and the reason is told", () => {
    const draft = { ...toDraft(POLICY), isJson: true };
    expect(switchForm({ ...draft, json: "{" })).toEqual({
      problem: expect.stringContaining("not valid JSON"),
    });
    expect(fromDraft({ ...draft, json: "[]" })).toEqual({ problem: "The policy must be a JSON object." });
  });
});

describe("a limit that was typed", () => {
  test("nothing means no limit, and only plain numbers count", () => {
    const read = (isWhole: boolean) => (text: string) => readNumber(text, { isWhole });
    expect(["", " 12.50 ", "$3", "-1", "1e3", "12.1234567891"].map(read(false))).toEqual([
      null,
      12.5,
      3,
      undefined,
      undefined,
      undefined,
    ]);
    expect(["60", "1.5", ""].map(read(true))).toEqual([60, undefined, null]);
  });
});

describe("the form of a budget", () => {
  const filled = { ...NEW_BUDGET, limit: "2.5" };

  test("a form that is filled in becomes the body of a new budget", () => {
    const common = { limit: 2.5, period: "month", action: "block", warn_at: 0.8 };
    expect(toNewBudget(filled)).toEqual(common);
    expect(toNewBudget({ ...filled, subject: "tag", accountId: "org_a", name: " Tags " })).toEqual({
      ...common,
      ...{ tag: "*", account_id: "org_a", name: "Tags" },
    });
    expect(
      toNewBudget({ ...filled, subject: "end_user", value: "ada", period: "rolling", days: "7" }),
    ).toEqual({
      ...common,
      ...{ end_user: "ada", period: "rolling", days: 7 },
    });
  });

  test("a budget that is shown and not changed is the same", () => {
    const fields = { name: "All", limit: 5, action: "warn", warn_at: 0.555 } as const;
    expect(toBudgetChange(readBudget({ ...fields, account_id: "org_a" }))).toEqual(fields);
  });

  test("names the first field that cannot be sent", () => {
    expect(findBudgetProblem(filled)).toBeNull();
    expect(findBudgetProblem(NEW_BUDGET)).toBe("limit");
    expect(findBudgetProblem({ ...filled, limit: "0" })).toBe("limit");
    expect(findBudgetProblem({ ...filled, subject: "key" })).toBe("value");
    expect(findBudgetProblem({ ...filled, period: "rolling", days: "366" })).toBe("days");
    expect(findBudgetProblem({ ...filled, warnAt: "101" })).toBe("warnAt");
  });
});
