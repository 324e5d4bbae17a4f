import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";

let gateway: TestGateway;
let user: string;
beforeAll(async () => {
  gateway = await startTestGateway({ environment: { GATEWAY_SECRETS_KEY: "a1".repeat(32) } });
  user = await createAccountTools(gateway).user("Ada");
});
afterAll(() => gateway.stop());

describe.each([
  ["an escape sequence", "a\u001b[2Jb"],
  ["an 8-bit control", "a\u009b31mb"],
  ["an override of direction", "a\u202eb"],
  ["an isolate of direction", "a\u2066b"],
  ["a line break", "a\nb"],
  ["a separator of lines", "a\u2028b"],
])("a text with %s", (_what, text) => {
  test.each([
    ["the name of a key", "name", "POST", () => "/keys", { name: text }],
    ["the models of a key", "models", "POST", () => "/keys", { name: "k", models: [text] }],
    ["the name of a user", "name", "POST", () => "/users", { name: text }],
    ["the changed name of a user", "name", "PATCH", () => `/users/${user}`, { name: text }],
    ["the own id of a user", "external_id", "PATCH", () => `/users/${user}`, { external_id: text }],
    ["the e-mail of a user", "email", "PATCH", () => `/users/${user}`, { email: `${text}@example.com` }],
    ["the name of an organization", "name", "POST", () => "/organizations", { name: text }],
    ["the name of a budget", "name", "POST", () => "/budgets", { limit: 1, name: text }],
    ["the end user of a budget", "end_user", "POST", () => "/budgets", { limit: 1, end_user: text }],
    ["the tag of a budget", "tag", "POST", () => "/budgets", { limit: 1, tag: text }],
    ["a note of credits", "note", "POST", () => `/accounts/${user}/credits`, { amount: 1, note: text }],
    [
      "a note of a correction",
      "note",
      "POST",
      () => `/accounts/${user}/corrections`,
      { amount: 1, note: text },
    ],
    ["a note of a drain", "note", "POST", () => "/health/sandbox/drain", { note: text }],
    [
      "a pattern of a policy",
      "policy",
      "PATCH",
      () => `/users/${user}`,
      { policy: { allowed_models: [text] } },
    ],
    [
      "the name of a provider key",
      "name",
      "POST",
      () => `/accounts/${user}/provider-keys`,
      { provider: "openai", key: "sk-0123456789", name: text },
    ],
    [
      "the target of a named route",
      "target",
      "PUT",
      () => "/named-routes/odd",
      { kind: "alias", target: text },
    ],
  ])("is rejected as %s", async (_field, field, method, path, body) => {
    const answer = await callAdmin(gateway, gateway.adminKey, method, path(), body);
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body["error"])).toContain(field);
  });
});

test("names in other scripts, with accents, emoji and marks of direction are accepted", async () => {
  for (const name of ["Zoë Müller-O’Neil", "山田 太郎", "عبد الله", "רות\u200f (a)", "👩‍💻 team"]) {
    const { status, data } = await callAdmin(gateway, gateway.adminKey, "POST", "/users", { name });
    expect([status, data["name"]]).toEqual([201, name]);
  }
});
