import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { usageOf } from "../../storage/contracts/samples.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin } from "../../support/gateway/management.ts";
import { withStoresOf } from "../../support/money.ts";

const DAY = "2027-01-31";
const AT = Date.parse(`${DAY}T12:00:00Z`);
/** One more than the lines of a report. */
const KEYS = 10_001;
/** Records that are saved together. */
const GROUP = 500;

const keyOf = (at: number) => `key_${String(at).padStart(5, "0")}`;
/** A generation of a key of its own, which costs a nanodollar more than the one before. */
const recordOf = (at: number) =>
  usageOf(`gen_long${at}`, { createdAt: AT, finishedAt: AT, keyId: keyOf(at), costNanodollars: at + 1 });

describe("a usage report with more lines than it may have", () => {
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await startTestGateway();
    await withStoresOf(gateway, async ({ usage }) => {
      for (let from = 0; from < KEYS; from += GROUP) {
        const count = Math.min(GROUP, KEYS - from);
        await usage.saveUsage(Array.from({ length: count }, (_, at) => recordOf(from + at)));
      }
    });
  });
  afterAll(() => gateway.stop());

  const usage = (query: string) =>
    callAdmin(gateway, gateway.adminKey, "GET", `/usage?from=${DAY}&to=${DAY}&${query}`);

  test("has those with the highest cost, and says that it is not complete", async () => {
    const { body, rows } = await usage("group_by=key");
    expect(body["is_complete"]).toBe(false);
    expect(rows).toHaveLength(KEYS - 1);
    expect(rows[0]).toMatchObject({ key: keyOf(KEYS - 1), cost_nanodollars: KEYS });
    // The key with the lowest cost is missing.
    expect(rows.at(-1)).toMatchObject({ key: keyOf(1), cost_nanodollars: 2 });
  });

  test("says so in CSV by a header, and is complete with fewer lines", async () => {
    const csv = await fetch(`${gateway.url}/api/admin/usage?from=${DAY}&to=${DAY}&group_by=key&format=csv`, {
      headers: { authorization: `Bearer ${gateway.adminKey}` },
    });
    expect(csv.headers.get("x-gateway-warning")).toContain("more than 10000 lines");
    expect((await csv.text()).trim().split("\n")).toHaveLength(KEYS);
    expect((await usage("group_by=model")).body["is_complete"]).toBe(true);
  });

  test("is rejected if it has several dimensions", async () => {
    const { status, body } = await usage("group_by=key,model");
    expect([status, body["error"]]).toEqual([
      400,
      expect.objectContaining({ message: expect.stringContaining("more than 10000 lines") }),
    ]);
  });
});
