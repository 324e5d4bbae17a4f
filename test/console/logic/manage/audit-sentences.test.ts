import { describe, expect, test } from "bun:test";
import { ACTIONS, kindOf } from "../../../../src/console/screens/audit/audit-kinds.ts";
import { describeEntry } from "../../../../src/console/screens/audit/audit-sentences.ts";
import { MAX_ACTIONS } from "../../../../src/core/audit/audit-store.ts";
import { ENDPOINTS } from "../../../../src/http/routes/endpoints.ts";

const NAMES: Readonly<Record<string, string>> = {
  key_1: "laptop",
  org_1: "Acme",
  user_1: "Ada",
};

function say(action: string, target: string | null, changes: object, account_id: string | null = "org_1") {
  const parts = describeEntry({ action, target, account_id, changes: changes as Record<string, unknown> });
  return parts.map((part) => (typeof part === "string" ? part : (NAMES[part.id] ?? part.id))).join("");
}

describe("an entry of the audit log as a sentence", () => {
  test("one changed field is said with its values before and after", () => {
    const changes = { before: { spend_limit: 20 }, after: { spend_limit: 50.5 } };
    const sentence = "changed the limit of the key laptop from $20.00 to $50.50";
    expect(say("PATCH /api/admin/keys/:id", "key_1", changes)).toBe(sentence);
    expect(say("gateway keys update", "key_1", changes)).toBe(sentence);
  });

  test("several changed fields are listed, those within objects by their own names, and equal ones are left out", () => {
    const changes = {
      before: { name: "Acme", policy: { denied_models: [], zero_retention: false }, monthly_limit: null },
      after: {
        name: "Acme",
        policy: { denied_models: ["openai/*", "x/y"], zero_retention: true },
        monthly_limit: 9,
      },
    };
    expect(say("PATCH /api/admin/organizations/:id", "org_1", changes)).toBe(
      "changed the organization Acme: the denied models from none to openai/*, x/y, “no retention” from off to on and the monthly limit from none to $9.00",
    );
  });

  test("an entry of an earlier version, which has only the new values, says those", () => {
    expect(say("PATCH /api/admin/keys/:id", "key_1", { prompt_log: 86_400 })).toBe(
      "changed how long bodies are stored of the key laptop to 1 day",
    );
  });

  test("a change without a difference says so", () => {
    const same = { before: { name: "a" }, after: { name: "a" } };
    expect(say("PATCH /api/admin/keys/:id", "key_1", same)).toBe("saved the key laptop without a change");
  });

  test("closing an account, adding a member and changing one are told apart", () => {
    const closed = (after: boolean) => ({ before: { closed: !after }, after: { closed: after } });
    expect(say("PATCH /api/admin/users/:id", "user_1", closed(true))).toBe("closed the account Ada");
    expect(say("gateway orgs reopen", "org_1", closed(false))).toBe("reopened the account Acme");
    const put = "PUT /api/admin/organizations/:id/members/:user_id";
    const role = { role: "admin", daily_limit: null };
    expect(say(put, "org_1/user_1", { before: null, after: role })).toBe(
      "made Ada a member of Acme: the role to admin and the daily limit to none",
    );
    expect(say(put, "org_1/user_1", { before: { ...role, role: "member" }, after: role })).toBe(
      "changed the role of the member Ada of Acme from member to admin",
    );
  });

  test("an invitation says the role and for whom it is", () => {
    const invite = "POST /api/admin/organizations/:id/invitations";
    const teams = [{ id: "team_1", is_lead: true }];
    expect(say(invite, "inv_1", { role: "member", email: "ada@example.com", teams })).toBe(
      "invited ada@example.com to Acme as member",
    );
    expect(say(invite, "inv_1", { role: "auditor", expires_in_hours: 72 })).toBe(
      "invited a person to Acme as auditor",
    );
    expect(say("POST /api/console/invitations/accept", "inv_1", { accepted: true })).toBe(
      "accepted an invitation to Acme",
    );
  });

  test("a deleted resource is named by what the entry says of it", () => {
    const before = { name: "Monthly", limit: 5 };
    expect(say("DELETE /api/admin/budgets/:id", "budget_1", { before, after: null })).toBe(
      "deleted the budget Monthly",
    );
  });

  test("amounts, a reload and an unknown outcome are said", () => {
    expect(say("POST /api/admin/accounts/:id/credits", "org_1", { amount: "12.5" })).toBe(
      "granted $12.50 to Acme",
    );
    expect(say("SIGHUP", null, { "log.level": { before: "info", after: "debug" } }, null)).toBe(
      "reloaded the configuration: log.level from info to debug",
    );
    expect(say("PATCH /api/admin/config", "revision 3", { dry_run: true }, null)).toBe(
      "compared a configuration with the present one",
    );
    expect(say("DELETE /api/admin/keys/:id", "key_1", { "(outcome)": "unknown" })).toBe(
      "revoked the key laptop, with an unknown outcome",
    );
  });

  test("a long value is cut, and many fields are counted", () => {
    const after = Object.fromEntries(["a", "b", "c", "d", "e"].map((name) => [name, name.repeat(200)]));
    const sentence = say("PATCH /api/admin/keys/:id", "key_1", { before: {}, after });
    expect(sentence).toContain(`a from none to ${"a".repeat(80)}…`);
    expect(sentence).toEndWith("and 2 more fields");
  });

  test("every audited endpoint has a sentence of its own, and no action belongs to two kinds", () => {
    const audited = ENDPOINTS.filter(
      ({ method, changesNothing, audited }) =>
        audited === true || (method !== "GET" && changesNothing !== true),
    );
    const other = audited
      .map(({ method, path }) => `${method} ${path}`)
      .filter((action) => kindOf({ action, changes: {} }) === "other");
    expect(other).toEqual([]);
    const actions = Object.values(ACTIONS).flat();
    expect(new Set(actions).size).toBe(actions.length);
    expect(Math.max(...Object.values(ACTIONS).map(({ length }) => length))).toBeLessThanOrEqual(MAX_ACTIONS);
  });
});
