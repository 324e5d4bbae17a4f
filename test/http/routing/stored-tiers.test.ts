import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type ApiAnswer, callAdmin } from "../../support/gateway/management.ts";
import { documentOf, startVendor, type Vendor } from "../../support/vendors/vendor.ts";

let gateway: TestGateway;
let vendor: Vendor;

beforeAll(async () => {
  vendor = startVendor((call) => call.respond(200, documentOf("Hello")));
  gateway = await startTestGateway({
    yaml: `
tiers:
  - id: gateway-auto/fixed
    name: Fixed
    rule: {by: balance, paid: {models: [acme/one]}, else: {models: [acme/one]}}
providers:
  acme:
    base_url: ${vendor.baseUrl}
    api_keys: [sk-acme-0123456789]
    models: [{id: acme/one}, {id: acme/two}]
`,
  });
});
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));
afterEach(async () => {
  for (const { id, source } of (await admin("GET", "/tiers")).rows)
    if (source === "database") await admin("DELETE", `/tiers/${encodeURIComponent(id)}`);
});

function admin(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
  return callAdmin(gateway, gateway.adminKey, method, path, body);
}

const choose = (...models: readonly string[]) => ({ by: "balance", paid: { models }, else: { models } });

async function ask(model: string): Promise<{ status: number; answered: unknown }> {
  const response = await postChat(gateway, { model, messages: [{ role: "user", content: "Hi" }] });
  return { status: response.status, answered: ((await response.json()) as { model?: unknown }).model };
}

describe("PUT /api/admin/tiers/{id}", () => {
  test("stores a tier, which is answered and listed at once, and is in the audit log", async () => {
    const { status, data } = await admin("PUT", "/tiers/ours", {
      name: "Ours",
      rule: choose("acme/none", "acme/two"),
    });
    expect(status).toBe(200);
    expect(data).toMatchObject({
      id: "gateway-auto/ours",
      name: "Ours",
      description: "",
      source: "database",
      file: null,
      line: null,
      replaces: [],
      resolves_to: [
        { when: "credits", models: ["acme/two"] },
        { when: "else", models: ["acme/two"] },
      ],
      unknown_models: ["acme/none"],
    });
    expect(data["updated_at"]).toBeString();
    expect(await ask("gateway-auto/ours")).toEqual({ status: 200, answered: "acme/two" });
    const listed = (await (await fetch(`${gateway.base}/models`)).json()) as { data: { id: string }[] };
    expect(listed.data.map(({ id }) => id)).toContain("gateway-auto/ours");
    const { rows } = await admin("GET", "/audit?limit=1");
    expect(rows[0]).toMatchObject({
      action: "PUT /api/admin/tiers/:id",
      target: "gateway-auto/ours",
      changes: { before: null, after: { name: "Ours" } },
    });
  });

  test("replaces a stored tier, and its id may have the prefix", async () => {
    await admin("PUT", "/tiers/ours", { name: "Ours", rule: choose("acme/one") });
    await admin("PUT", "/tiers/gateway-auto%2Fours", { name: "Ours", rule: choose("acme/two") });
    expect(await ask("gateway-auto/ours")).toEqual({ status: 200, answered: "acme/two" });
    const { rows } = await admin("GET", "/audit?limit=1");
    expect(rows[0]?.["changes"]).toMatchObject({ before: { rule: choose("acme/one") } });
  });

  test("replaces a tier of the catalog, until it is deleted", async () => {
    expect((await admin("GET", "/tiers/balanced")).data).toMatchObject({ source: "catalog" });
    const { data } = await admin("PUT", "/tiers/balanced", { name: "Ours", rule: choose("acme/one") });
    expect(data).toMatchObject({ source: "database", replaces: ["catalog"] });
    expect((await ask("gateway-auto/balanced")).answered).toBe("acme/one");
    await admin("DELETE", "/tiers/balanced");
    expect((await admin("GET", "/tiers/balanced")).data).toMatchObject({ source: "catalog" });
    expect((await ask("gateway-auto/balanced")).status).not.toBe(200);
  });

  test("rejects a tier that the configuration file defines, with the line where it is", async () => {
    const { status, body } = await admin("PUT", "/tiers/fixed", { name: "Ours", rule: choose("acme/two") });
    expect(status).toBe(409);
    expect(JSON.stringify(body)).toContain("gateway.yaml:3");
    expect((await admin("GET", "/tiers/fixed")).data).toMatchObject({
      source: "file",
      file: "gateway.yaml",
      line: 3,
      name: "Fixed",
    });
  });

  test.each([
    ["an id that no tier can have", "UPPER CASE", { name: "x", rule: { by: "free" } }, "id: must be"],
    ["a model without an author", "ours", { name: "x", rule: choose("gpt") }, "author/model"],
    [
      "a tier within a tier",
      "ours",
      { name: "x", rule: choose("gateway-auto/free") },
      "cannot contain tiers",
    ],
    ["an unknown rule", "ours", { name: "x", rule: { by: "weather" } }, "rule.by"],
    ["an unknown field", "ours", { name: "x", rule: { by: "free" }, colour: "red" }, "colour"],
    ["a tier without a name", "ours", { rule: { by: "free" } }, "name"],
    [
      "a tier that is too large",
      "ours",
      { name: "x", description: "x".repeat(70_000), rule: { by: "free" } },
      "65536 characters",
    ],
  ])("rejects %s", async (_name, id, body, words) => {
    const answer = await admin("PUT", `/tiers/${encodeURIComponent(id)}`, body);
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain(words);
  });

  test("rejects a tier beyond a hundred, with those of the file", async () => {
    const tiers = Array.from({ length: 99 }, (_, index) => ({
      ...{ id: `gateway-auto/t${index}`, name: "x", description: "", rule: { by: "free" } },
    }));
    const edits = tiers.map((value) => ({ path: ["tiers", value.id], value }));
    expect((await admin("PATCH", "/config", { edits })).status).toBe(200);
    const { status, body } = await admin("PUT", "/tiers/more", { name: "x", rule: { by: "free" } });
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain("tiers Too big");
    expect((await admin("PUT", "/tiers/t5", { name: "y", rule: { by: "free" } })).status).toBe(200);
  });
});

describe("DELETE /api/admin/tiers/{id}", () => {
  test("deletes a stored tier at once", async () => {
    await admin("PUT", "/tiers/ours", { name: "Ours", rule: choose("acme/one") });
    const { status, data } = await admin("DELETE", "/tiers/ours");
    expect([status, data]).toMatchObject([200, { id: "gateway-auto/ours", deleted: true }]);
    expect((await ask("gateway-auto/ours")).status).toBe(400);
    expect((await admin("GET", "/tiers/ours")).status).toBe(404);
  });

  test.each([
    ["a tier of the configuration file", "fixed", 409, "gateway.yaml:3"],
    ["a tier of the catalog", "balanced", 409, "cannot be deleted"],
    ["a tier that does not exist", "none", 404, "gateway-auto/none"],
  ])("rejects %s", async (_name, id, status, words) => {
    const answer = await admin("DELETE", `/tiers/${id}`);
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).toContain(words);
  });
});

test("stored tiers are in force after a restart", async () => {
  const first = await startTestGateway({ yaml: "" });
  const rule = choose("sandbox/echo");
  await callAdmin(first, first.adminKey, "PUT", "/tiers/ours", { name: "Ours", rule });
  await first.stop({ keepData: true });
  const second = await startTestGateway({ dataDir: first.dataDir, key: first.key });
  const body = { model: "gateway-auto/ours", messages: [{ role: "user", content: "Hi" }] };
  expect((await postChat(second, body)).status).toBe(200);
  await second.stop();
});
