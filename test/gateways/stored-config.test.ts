import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { openTestPostgres } from "../support/databases/open-postgres.ts";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../support/databases/postgres.ts";
import { eventually } from "../support/eventually.ts";
import { postChat, type TestGateway } from "../support/gateway/gateway.ts";
import { callAdmin } from "../support/gateway/management.ts";
import { startVendor, type Vendor } from "../support/vendors/vendor.ts";
import { type SharedGateways, shareDatabase } from "./shared-gateways.ts";

/** Twice what is promised, because a machine that runs tests is busy. Milliseconds. */
const BOUND_MS = 2_000;

// biome-ignore lint/suspicious/noExplicitAny: the tests look at many shapes
type Body = any;

describe.skipIf(POSTGRES_BIN === null)("the stored configuration of two gateways", () => {
  let server: TestPostgres;
  let vendor: Vendor;
  let shared: SharedGateways;
  let url: string;

  beforeAll(async () => {
    server = await startTestPostgres();
    vendor = startVendor();
  });
  afterAll(async () => {
    vendor.stop();
    await server.remove();
  });
  beforeEach(async () => {
    url = await server.createMigratedDatabase();
    shared = shareDatabase(url);
  });
  afterEach(() => shared.clear());

  const admin = async (gateway: TestGateway, method: string, path: string, body?: unknown) => {
    const answer = await callAdmin(gateway, gateway.adminKey, method, path, body);
    return { status: answer.status, body: answer.body as Body, data: answer.data as Body };
  };
  const edit = (gateway: TestGateway, path: readonly string[], value: unknown) =>
    admin(gateway, "PATCH", "/config", { edits: [{ path, value }] });
  const valueAt = async (gateway: TestGateway, name: string) =>
    (await admin(gateway, "GET", "/settings")).data.find((one: Body) => one.name === name)?.value;
  /** Returns what a gateway says of its readiness, as text. */
  const readiness = async (gateway: TestGateway) => (await fetch(`${gateway.url}/readyz`)).text();
  const UNAPPLIED = "Revision 2 of the stored configuration cannot be applied";

  test("is in force at both within a second, with secrets that both decrypt", async () => {
    const [a, b] = [await shared.start("a", {}), await shared.start("b", {})];
    const added = await edit(a, ["providers", "vendor"], {
      base_url: vendor.baseUrl,
      api_keys: ["sk-vendor-0123456789"],
      models: [{ id: "acme/model", prices: { prompt: "0", completion: "0" } }],
    });
    expect(added.status).toBe(200);
    const chat = { model: "acme/model", messages: [{ role: "user", content: "Hello!" }] };
    await eventually(
      "the provider at the other gateway",
      async () => {
        const response = await postChat(b, chat);
        await response.arrayBuffer();
        return response.status === 200;
      },
      BOUND_MS,
    );
    expect((await edit(b, ["limits", "attempts"], 2)).status).toBe(200);
    await eventually(
      "the setting at the first gateway",
      async () => (await valueAt(a, "limits.attempts")) === 2,
      BOUND_MS,
    );
    await eventually(
      "both gateways to report the revision",
      async () =>
        (await admin(a, "GET", "/gateways")).data.every(({ config }: Body) => config?.revision === 2),
      BOUND_MS,
    );
  });

  test("is rejected where the file of the other gateway sets the setting, with that file and gateway", async () => {
    const a = await shared.start("a", {});
    const b = await shared.start("b", { yaml: "limits: { attempts: 3 }" });
    const { status, body } = await edit(a, ["limits", "attempts"], 2);
    expect(status).toBe(409);
    expect(body.error.message).toMatch(/limits\.attempts is set in gateway\.yaml:1 of gateway_\S+ on /);
    expect((await edit(a, ["limits", "attempts"], 3)).status).toBe(200);
    await b.stop();
    await eventually(
      "the change once the other gateway has stopped",
      async () => (await edit(a, ["limits", "attempts"], 2)).status === 200,
      BOUND_MS,
    );
  });

  test("stays the former one at a gateway that cannot apply the new one, which says so", async () => {
    const a = await shared.start("a", {});
    // Its file sets the limit of bodies. A total below that is only wrong here.
    const b = await shared.start("b", { yaml: "limits: { body_bytes: 100000000 }" });
    expect((await edit(a, ["limits", "repeats"], 3)).status).toBe(200);
    await eventually("the first revision", async () => (await valueAt(b, "limits.repeats")) === 3, BOUND_MS);
    const change = {
      edits: [
        { path: ["limits", "total_body_bytes"], value: 50_000_000 },
        { path: ["limits", "repeats"], value: 4 },
      ],
    };
    expect((await admin(a, "PATCH", "/config", change)).status).toBe(200);
    await eventually(
      "the report of the gateway",
      async () => (await readiness(b)).includes(UNAPPLIED),
      BOUND_MS,
    );
    expect(await valueAt(b, "limits.repeats")).toBe(3);
    expect(await valueAt(a, "limits.repeats")).toBe(4);
    await eventually(
      "the problem in the list of gateways",
      async () =>
        (await admin(a, "GET", "/gateways")).data.some(({ config }: Body) =>
          config?.problem?.includes("limits.total_body_bytes"),
        ),
      BOUND_MS,
    );
    expect((await edit(a, ["limits", "total_body_bytes"], 200_000_000)).status).toBe(200);
    await eventually(
      "the third revision",
      async () => !(await readiness(b)).includes(UNAPPLIED) && (await valueAt(b, "limits.repeats")) === 4,
      BOUND_MS,
    );
  });

  test("stays the former one at a gateway of a version that does not know a setting of the new one", async () => {
    const a = await shared.start("a", {});
    expect((await edit(a, ["limits", "repeats"], 3)).status).toBe(200);
    // As a gateway of the next version stores it.
    const database = openTestPostgres(url);
    await database.run(
      `INSERT INTO config_revisions (revision, document, changed_at, changed_by, changed)
       VALUES (2, '{"limits":{"repeats":4},"shields":{"up":true}}', 1, 'key_operator', '[["shields"]]')`,
    );
    await database.run("UPDATE revisions SET revision = revision + 1 WHERE name = 'config'");
    await database.close();
    await eventually(
      "the report of the gateway",
      async () => (await readiness(a)).includes(UNAPPLIED),
      BOUND_MS,
    );
    expect(await valueAt(a, "limits.repeats")).toBe(3);
    await eventually(
      "the problem in the list of gateways",
      async () =>
        (await admin(a, "GET", "/gateways")).data[0].config.problem?.includes("shields is not a known key"),
      BOUND_MS,
    );
  });

  test("a gateway starts with the latest revision that it can apply", async () => {
    const a = await shared.start("a", {});
    await edit(a, ["limits", "repeats"], 3);
    await edit(a, ["limits", "total_body_bytes"], 50_000_000);
    const b = await shared.start("b", { yaml: "limits: { body_bytes: 100000000 }" });
    expect(await valueAt(b, "limits.repeats")).toBe(3);
    expect(await readiness(b)).toContain(UNAPPLIED);
  });
});
