import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, rmSync } from "node:fs";
import { scheduleRefresh } from "../../src/app/catalog/schedule-refresh.ts";
import type { CatalogManager } from "../../src/core/catalog/refresh/catalog-manager.ts";
import { type SourceModels, seedCatalog, startSource, type TestSource } from "../catalog/seed-catalog.ts";
import { shippedRules, sourceModel, sourceText } from "../catalog/source-fixture.ts";
import { openTestStores } from "../support/databases/test-stores.ts";
import { turnEventLoop, waitFor } from "../support/event-loop.ts";
import {
  postChat,
  startTestGateway,
  type TestGateway,
  type TestGatewayOptions,
} from "../support/gateway/gateway.ts";
import { callAdmin } from "../support/gateway/management.ts";
import { RUNS_SLOW_TESTS } from "../support/long-run.ts";
import { withStoresOf } from "../support/money.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { startVendor, type Vendor } from "../support/vendors/vendor.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Dollars per million tokens, in and out. */
function model(id: string, input = 1, output = 2, rest: Record<string, unknown> = {}) {
  return sourceModel(id, { cost: { input, output }, ...rest });
}

const FIRST: SourceModels = { openai: ["gpt-a", "gpt-b", "gpt-c", "gpt-d"].map((id) => model(id)) };

let source: TestSource;
let vendor: Vendor;
beforeAll(() => {
  source = startSource(FIRST);
  vendor = startVendor();
});
afterAll(() => {
  source.stop();
  vendor.stop();
});

interface Place {
  readonly gateway: TestGateway;
  readonly clock: TestClock;
  /** Advances the clock by days at once, without running the timers of each second. */
  leap(ms: number): Promise<void>;
}

async function start(catalog: object = {}, options: TestGatewayOptions = {}): Promise<Place> {
  const clock = createTestClock(Date.parse("2026-07-03T12:00:00Z"));
  let leapt = 0;
  const config = {
    catalog: { source: source.url, ...catalog },
    providers: { openai: { base_url: vendor.baseUrl } },
  };
  const gateway = await startTestGateway({
    clock: { ...clock, now: () => clock.now() + leapt },
    dataDir: options.dataDir ?? (await seedCatalog(FIRST)),
    yaml: JSON.stringify(config),
    environment: { OPENAI_API_KEY: "sk-test-openai-0001" },
    ...options,
  });
  return {
    gateway,
    clock,
    async leap(ms) {
      leapt += ms;
      clock.advance(1_000);
      await turnEventLoop(3);
    },
  };
}

function admin({ gateway }: Pick<Place, "gateway">, method: string, path: string, body?: unknown) {
  return callAdmin(gateway, gateway.adminKey, method, `/catalog${path}`, body);
}

async function refresh(place: Pick<Place, "gateway">, models?: SourceModels) {
  if (models !== undefined) source.serve(models);
  const answer = await admin(place, "POST", "/refresh", {});
  expect(answer.status).toBe(200);
  return answer.data as unknown as { written: boolean; waiting: { id: string; model: string }[] };
}

async function listModels({ gateway }: Pick<Place, "gateway">, query = "") {
  const response = await fetch(`${gateway.base}/models${query}`);
  const { data } = (await response.json()) as {
    data: { id: string; pricing: Record<string, string>; expiration_date: string | null }[];
  };
  return new Map(data.map((item) => [item.id, item]));
}

async function promptPrice(place: Pick<Place, "gateway">, id: string): Promise<string | undefined> {
  return (await listModels(place)).get(id)?.pricing["prompt"];
}

function ask({ gateway }: Pick<Place, "gateway">, id: string): Promise<Response> {
  return postChat(gateway, { model: id, messages: [{ role: "user", content: "Hello!" }] });
}

/** Returns the stored catalog as text. */
async function readCatalog({ gateway }: Pick<Place, "gateway">): Promise<string> {
  return JSON.stringify(await withStoresOf(gateway, ({ catalog }) => catalog.readCatalog()));
}

/** Nine refreshes in threads of their own, on a busy machine. */
const SLOW_MS = 120_000;

describe("scheduled refreshes", () => {
  /** Advances the clock to the next refresh and waits for its end. */
  async function awaitRefresh({ gateway, clock }: Place): Promise<void> {
    while (!(await isRefreshing(gateway))) {
      clock.leap(10_000);
      await turnEventLoop(1);
    }
    await waitFor(async () => ((await isRefreshing(gateway)) ? null : true));
    await turnEventLoop(3);
  }

  function isRefreshing(gateway: TestGateway): Promise<boolean> {
    return withStoresOf(gateway, async ({ leases }) => {
      const lease = await leases.acquire({ name: "refresh", owner: "test", durationMs: 60_000 });
      await lease?.release();
      return lease === null;
    });
  }

  test.skipIf(!RUNS_SLOW_TESTS)(
    "An invalid source changes nothing and is logged once per reason; a valid one is used.",
    async () => {
      source.serve(FIRST);
      const place = await start({ refresh_hours: 0.02, source_bytes: 20_000 });
      const before = await readCatalog(place);
      place.clock.advance(119_000);
      expect(await isRefreshing(place.gateway)).toBe(false);
      const whole = sourceText(FIRST);
      const cases: [string, () => Response][] = [
        ["is not JSON", () => new Response(`${whole.slice(0, -1)},}`)],
        ["answers 500", () => new Response("oops", { status: 500 })],
        ["web page", () => new Response("<!doctype html><title>models</title>")],
        ["cut off", () => new Response(whole.slice(0, whole.length / 2))],
        ["not a list of providers", () => new Response('{"data":[]}')],
        ["larger than 20000 bytes", () => new Response("x".repeat(20_001))],
        ["would leave 1 of 4 models", () => new Response(sourceText({ openai: [model("gpt-a")] }))],
      ];
      for (const [, answer] of [cases[0]!, ...cases]) {
        source.serve(answer);
        await awaitRefresh(place);
      }
      const warnings = place.gateway.log.filter(({ level }) => level === "warn");
      expect(warnings.map(({ event }) => event)).toEqual(
        cases.map(() => "the catalog source was rejected; nothing was changed"),
      );
      for (const [index, [reason]] of cases.entries())
        expect(warnings[index]?.fields["detail"]).toContain(reason);
      expect(await readCatalog(place)).toBe(before);
      expect((await admin(place, "GET", "")).data["problem"]).toContain("would leave 1 of 4 models");

      source.serve({ openai: [...(FIRST["openai"] ?? []), model("gpt-e")] });
      await awaitRefresh(place);
      const events = () => place.gateway.log.map(({ event }) => event);
      // The lease of the refresh ends before its models are served.
      await waitFor(async () => ((await listModels(place)).has("openai/gpt-e") ? true : null));
      await waitFor(async () => (events().includes("catalog refreshed") ? true : null));
      expect(events()).toContain("the catalog source is valid again");
      expect((await admin(place, "GET", "")).data).toMatchObject({
        problem: null,
        waiting: 0,
        models: 5 + shippedRules.further.length,
      });
      await place.gateway.stop();
    },
    SLOW_MS,
  );

  test("Each gateway refreshes at a different time, and not if another has just refreshed.", async () => {
    const clock = createTestClock();
    const asked: string[] = [];
    const gatewayOf = (name: string, byte: number, refreshedAt: number | null) =>
      scheduleRefresh({
        manager: {
          ...IDLE_MANAGER,
          status: async () => ({ ...(await IDLE_MANAGER.status()), refreshedAt }),
          async refresh() {
            asked.push(`${name} ${Math.round((clock.now() - begin) / 60_000)}`);
            return { ok: true, written: false, problem: null, lines: [], added: 0, changed: 0, waiting: [] };
          },
        },
        clock,
        random: { bytes: (length) => new Uint8Array(length).fill(byte) },
        log: { debug() {}, info() {}, warn() {}, error() {} },
        hours: 1,
      });
    const begin = clock.now();
    const timers = [gatewayOf("early", 0, null), gatewayOf("late", 255, null), gatewayOf("idle", 0, begin)];
    for (let minute = 0; minute < 100; minute++) {
      clock.advance(60_000);
      await turnEventLoop(1);
    }
    expect(asked).toEqual(["early 2", "late 10", "idle 56", "early 56", "late 76"]);
    for (const timer of timers) timer.cancel();
    expect(clock.pendingTimers).toBe(0);
  });
});

const IDLE_MANAGER: CatalogManager = {
  status: async () => ({
    source: "",
    refreshHours: 1,
    priceFactor: 2,
    graceDays: 7,
    attemptedAt: null,
    refreshedAt: null,
    problem: null,
    difference: [],
    waiting: 0,
    rejected: 0,
  }),
  listHeld: async () => ({ waiting: [], rejected: [] }),
  refresh: () => Promise.reject(new Error("not asked")),
  decide: async () => [],
};

describe("a price change beyond the factor", () => {
  test("waits for approval, also across a restart, while the old price applies", async () => {
    const place = await start();
    const [, ...rest] = FIRST["openai"] ?? [];
    const jumped = { openai: [model("gpt-a", 2.01, 2, { limit: { context: 9000, output: 100 } }), ...rest] };
    const { waiting } = await refresh(place, jumped);
    expect(waiting).toMatchObject([
      { model: "openai/gpt-a", jumps: [{ kind: "prompt", before: "0.000001", after: "0.00000201" }] },
    ]);
    expect(await promptPrice(place, "openai/gpt-a")).toBe("0.000001");
    const entry = (await listModels(place)).get("openai/gpt-a") as unknown as { context_length: number };
    expect(entry.context_length).toBe(9000);

    const { dataDir, key } = place.gateway;
    await place.gateway.stop({ keepData: true });
    const again = await start({}, { dataDir, key });
    expect(await promptPrice(again, "openai/gpt-a")).toBe("0.000001");
    const held = await admin(again, "GET", "/changes");
    expect(held.rows.map(({ id }) => id)).toEqual(waiting.map(({ id }) => id));

    const id = waiting[0]?.id;
    expect((await admin(again, "POST", "/changes/change_none/approve")).status).toBe(404);
    expect((await admin(again, "POST", `/changes/${id}/approve`)).status).toBe(200);
    expect(await promptPrice(again, "openai/gpt-a")).toBe("0.00000201");
    expect((await admin(again, "GET", "/changes")).rows).toEqual([]);
    expect((await refresh(again)).waiting).toEqual([]);
    const audit = await callAdmin(again.gateway, again.gateway.adminKey, "GET", "/audit");
    expect(audit.rows.find(({ target }) => target === id)).toMatchObject({
      action: "POST /api/admin/catalog/changes/:id/approve",
      changes: { model: "openai/gpt-a", provider: "openai" },
    });
    await again.gateway.stop();
  });

  test("stays rejected until the source has another price", async () => {
    const place = await start();
    const others = (FIRST["openai"] ?? []).slice(2);
    const at = (input: number) => ({ openai: [model("gpt-a", input), model("gpt-b", input), ...others] });
    expect((await refresh(place, at(10))).waiting).toHaveLength(2);
    expect((await admin(place, "POST", "/changes/all/reject")).rows).toHaveLength(2);
    expect((await refresh(place)).waiting).toEqual([]);
    expect((await admin(place, "GET", "/changes?status=rejected")).rows).toHaveLength(2);
    expect(await promptPrice(place, "openai/gpt-a")).toBe("0.000001");
    expect((await refresh(place, at(11))).waiting).toHaveLength(2);
    expect((await admin(place, "GET", "/changes?status=rejected")).rows).toEqual([]);
    // A change within the factor needs no approval.
    expect((await refresh(place, at(1.5))).waiting).toEqual([]);
    expect(await promptPrice(place, "openai/gpt-a")).toBe("0.0000015");
    await place.gateway.stop();
  });
});

test("a missing model is served and listed with an expiry date during its grace period, then rejected by name", async () => {
  const place = await start({ grace_days: 3 });
  const rest = (FIRST["openai"] ?? []).slice(1);
  await refresh(place, { openai: rest });
  expect((await listModels(place)).get("openai/gpt-a")?.expiration_date).toBe("2026-07-06");
  expect((await ask(place, "openai/gpt-a")).status).toBe(200);
  expect((await admin(place, "GET", "")).data["missing"]).toEqual([
    { model: "openai/gpt-a", since: "2026-07-03", expiration_date: "2026-07-06" },
  ]);

  // The model returns and is missing again: the grace period starts again.
  await refresh(place, FIRST);
  expect((await listModels(place)).get("openai/gpt-a")?.expiration_date).toBeNull();
  await place.leap(DAY_MS);
  await refresh(place, { openai: rest });
  await place.leap(DAY_MS);
  await refresh(place);
  expect((await listModels(place)).get("openai/gpt-a")?.expiration_date).toBe("2026-07-07");

  await place.leap(2 * DAY_MS);
  await waitFor(async () => ((await listModels(place)).has("openai/gpt-a") ? null : true));
  const listed = [...(await listModels(place)).keys()].filter((id) => /^openai\/gpt-[a-d]$/.test(id));
  expect(listed).toEqual(["openai/gpt-b", "openai/gpt-c", "openai/gpt-d"]);
  expect((await listModels(place, "?all=true")).get("openai/gpt-a")?.expiration_date).toBe("2026-07-07");
  const refused = await ask(place, "openai/gpt-a");
  expect(refused.status).toBe(400);
  const { error } = (await refused.json()) as { error: { code: string; message: string } };
  expect(error.message).toStartWith(
    '"openai/gpt-a" was withdrawn on 2026-07-04. Similar models are "openai/gpt-b"',
  );
  expect((await fetch(`${place.gateway.base}/models/openai/gpt-a`)).status).toBe(200);
  await place.gateway.stop();
});

describe("catalog overrides", () => {
  const overrides = {
    "openai/gpt-a": {
      context_length: undefined,
      endpoints: { openai: { prices: { prompt: "0.5", completion: "0.7" }, context_length: 777 } },
    },
    "openai/gpt-b": { hidden: true },
    "acme/mine": {
      endpoints: { openai: { name: "mine", context_length: 10, prices: { prompt: "1", completion: "1" } } },
    },
  };

  test("take precedence over a refresh", async () => {
    const place = await start({ overrides });
    const check = async () => {
      const models = await listModels(place);
      expect(models.get("openai/gpt-a")).toMatchObject({
        context_length: 777,
        pricing: { prompt: "0.5", completion: "0.7" },
      });
      expect(models.has("openai/gpt-b")).toBe(false);
      expect(models.has("acme/mine")).toBe(true);
      expect((await ask(place, "openai/gpt-b")).status).toBe(400);
    };
    await check();
    const [, ...rest] = FIRST["openai"] ?? [];
    const { written } = await refresh(place, { openai: [model("gpt-a", 1.5), ...rest, model("gpt-e")] });
    expect(written).toBe(true);
    await check();
    expect([...(await listModels(place)).keys()]).toContain("openai/gpt-e");
    await place.gateway.stop();
  });

  for (const [what, bad, path] of [
    [
      "a price that is no decimal",
      { "openai/gpt-a": { endpoints: { openai: { prices: { prompt: 1, completion: "1" } } } } },
      "catalog.overrides.openai/gpt-a.endpoints.openai.prices.prompt",
    ],
    [
      "a field that there is not",
      { "openai/gpt-a": { contextlength: 1 } },
      "catalog.overrides.openai/gpt-a.contextlength",
    ],
    ["no model id", { "gpt-a": { hidden: true } }, "catalog.overrides.gpt-a must be a model id"],
    [
      "an unknown model",
      { "openai/gpt-z": { hidden: true } },
      "catalog.overrides.openai/gpt-z.endpoints is needed",
    ],
    [
      "an incomplete endpoint",
      { "openai/gpt-a": { endpoints: { groq: { context_length: 5 } } } },
      "catalog.overrides.openai/gpt-a.endpoints.groq.prices is needed",
    ],
    [
      "an unknown provider",
      { "a/b": { endpoints: { unknown: { name: "b", context_length: 5, prices: null } } } },
      "catalog.overrides.a/b a/b: unknown b: no such provider",
    ],
    [
      "a paid model with a price of 0",
      { "openai/gpt-a": { endpoints: { openai: { prices: { prompt: "0", completion: "0" } } } } },
      "catalog.overrides.openai/gpt-a openai/gpt-a: openai gpt-a: :free",
    ],
  ] as const) {
    test(`prevent the start with ${what}`, async () => {
      const failure = await start({ overrides: bad }).then(
        () => "it started",
        (error: Error) => error.message,
      );
      expect(failure).toContain(path);
    });
  }
});

test("announced prices determine the order of deployments from their date on", async () => {
  const other = startVendor();
  const ours = (dollars: string, more: object = {}) => ({
    name: "x",
    context_length: 1000,
    prices: { prompt: dollars, completion: dollars },
    ...more,
  });
  const later = {
    price_changes: [{ from: "2026-07-04", prices: { prompt: "0.0000001", completion: "0.0000001" } }],
  };
  const overrides = {
    "acme/x": { endpoints: { groq: ours("0.0000003", later), openai: ours("0.0000002") } },
  };
  const environment = {
    OPENAI_API_KEY: "sk-test-openai-0001",
    GROQ_API_KEY: "gsk-test-groq-0001",
    GROQ_BASE_URL: other.baseUrl,
  };
  const place = await start({ overrides }, { environment });
  const countCalls = async () => {
    const before = [vendor.calls.length, other.calls.length];
    expect((await ask(place, "acme/x")).status).toBe(200);
    return [vendor.calls.length - (before[0] ?? 0), other.calls.length - (before[1] ?? 0)];
  };
  expect(await countCalls()).toEqual([1, 0]);
  await place.leap(12 * HOUR_MS);
  await waitFor(async () => ((await countCalls())[1] === 1 ? true : null));
  expect(await countCalls()).toEqual([0, 1]);
  await place.gateway.stop();
  other.stop();
});

describe("a refresh on request", () => {
  test("is rejected while another process refreshes", async () => {
    const place = await start();
    const stores = await openTestStores(place.gateway.dataDir);
    const lease = await stores.leases.acquire({ name: "refresh", owner: "command_a", durationMs: 60_000 });
    const before = await readCatalog(place);
    source.serve({ openai: [...(FIRST["openai"] ?? []), model("gpt-e")] });
    expect((await admin(place, "POST", "/refresh", {})).status).toBe(409);
    expect((await admin(place, "POST", "/changes/all/approve")).status).toBe(409);
    expect(await readCatalog(place)).toBe(before);
    await lease?.release();
    await stores.close();
    expect((await refresh(place)).written).toBe(true);
    await place.gateway.stop();
  });

  test("as a dry run lists the changes without making them, for the operator only", async () => {
    const place = await start();
    const before = await readCatalog(place);
    source.serve({ openai: [...(FIRST["openai"] ?? []), model("gpt-e")] });
    const dry = await admin(place, "POST", "/refresh", { dry_run: true });
    expect(dry.data).toMatchObject({ written: false, added: 1 });
    expect(dry.data["difference"]).toContain("+ openai/gpt-e");
    expect(await readCatalog(place)).toBe(before);
    source.serve(() => new Response("oops", { status: 500 }));
    expect((await admin(place, "POST", "/refresh", {})).status).toBe(502);
    expect((await callAdmin(place.gateway, place.gateway.key, "GET", "/catalog")).status).toBe(403);
    expect(readdirSync(place.gateway.dataDir).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    await place.gateway.stop();
    rmSync(place.gateway.dataDir, { recursive: true, force: true });
  });
});

test("a refresh reads a price map too, and later ones without it keep what only the map had, with its facts", async () => {
  const facts = { litellm_provider: "openai", mode: "chat", source: "https://example.com/prices" };
  const limits = { max_input_tokens: 1000, max_output_tokens: 100 };
  const priced = (price: number) => ({
    input_cost_per_token: price,
    output_cost_per_token: 2e-6,
    prompt_cache_min_tokens: 2048,
  });
  const map = startSource(FIRST);
  const text = JSON.stringify({
    "gpt-a": { ...facts, ...limits, ...priced(1.5e-6) },
    "gpt-new": { ...facts, ...limits, ...priced(4e-6) },
  });
  map.serve(() => new Response(text));
  source.serve(FIRST);
  const place = await start({ price_map: map.url, grace_days: 1 });
  await refresh(place);
  expect(await promptPrice(place, "openai/gpt-a")).toBe("0.0000015");
  expect(await promptPrice(place, "openai/gpt-new")).toBe("0.000004");
  expect((await ask(place, "openai/gpt-new")).status).toBe(200);

  const { dataDir, key } = place.gateway;
  await place.gateway.stop({ keepData: true });
  map.stop();
  const without = await start({ grace_days: 1 }, { dataDir, key });
  await refresh(without);
  await without.leap(3 * DAY_MS);
  await refresh(without);
  expect(await promptPrice(without, "openai/gpt-a")).toBe("0.000001");
  expect((await listModels(without)).get("openai/gpt-new")?.expiration_date).toBeNull();
  expect((await ask(without, "openai/gpt-new")).status).toBe(200);
  const stored = await withStoresOf(without.gateway, ({ catalog }) => catalog.readCatalog());
  const takes = stored?.value?.models
    .filter(({ id }) => id.startsWith("openai/gpt-"))
    .map((each) => [each.id, each.takes?.cacheMinTokens]);
  expect(takes).toEqual(
    expect.arrayContaining([
      ["openai/gpt-a", 2048],
      ["openai/gpt-new", 2048],
    ]),
  );
  await without.gateway.stop();

  const failed = await start({ price_map: map.url }, { dataDir: await seedCatalog(FIRST) });
  await admin(failed, "POST", "/refresh", {});
  const state = await withStoresOf(failed.gateway, ({ catalog }) => catalog.readRefreshState());
  expect(state.problem).toContain(`with the price map ${map.url} that cannot be fetched`);
  await failed.gateway.stop();
});
