/** What an operator does from the first start to the last stop, in one installation: each step continues where the one before has ended. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { systemClock } from "../../src/base/time/clock.ts";
import { ON_POSTGRES } from "../support/databases/test-databases.ts";
import { eventually } from "../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { RUNS_SLOW_TESTS } from "../support/long-run.ts";
import { parseScrape } from "../support/servers/scrape.ts";
import { isSigned } from "../support/servers/webhook-receiver.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { markAsNewer, writeFormerDatabase } from "./database-versions.ts";
import {
  ADMIN_KEY,
  COST,
  FIRST_PLATFORM_KEY,
  Installation,
  METRICS_TOKEN,
  type Printed,
  WEBHOOK_SECRET,
} from "./installation.ts";

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;
/** The time for steps with several processes on a machine that is busy. */
const PROCESSES_MS = 60_000;
/** The credits of each account. Dollars. */
const GRANT = 10;
const BYOK_KEY = "sk-own-0123456789abcdef";
const SECOND_PLATFORM_KEY = "sk-acme-second-0123456789";
const [FIRST_MASTER_KEY, SECOND_MASTER_KEY] = ["a".repeat(64), "b".repeat(64)];

let site: Installation;
beforeAll(() => {
  site = new Installation();
  // Several gateways of a database need a common master key, so that none is generated there.
  if (ON_POSTGRES) site.environment = { ...site.environment, GATEWAY_SECRETS_KEY: FIRST_MASTER_KEY };
  site.configure();
});
afterAll(() => site.remove());

/** The accounts and keys, as the first steps create them. */
let ada: { readonly id: string; readonly key: string; readonly keyId: string };
let bob: { readonly id: string; readonly key: string };
let acme: { readonly id: string; readonly ada: string; readonly bob: string };

describe.skipIf(!RUNS_SLOW_TESTS)("an operator sets up", () => {
  test("the configuration is checked before the first start, and the commands work without a gateway", async () => {
    expect(await site.print("config", "check")).toContain("gateway.yaml");
    await site.print("migrate");
    expect(await site.read<Printed[]>("users", "list")).toMatchObject([{ name: "default" }]);
  });

  test("two users and an organization get keys and credits", async () => {
    const [a, b] = [await site.read("users", "create", "Ada"), await site.read("users", "create", "Bob")];
    const org = await site.read("orgs", "create", "Acme", "--owner", a.id);
    await site.read("members", "set", org.id, b.id, "--role", "member");
    for (const account of [a, b, org]) await site.print("credits", "grant", account.id, String(GRANT));
    const own = await site.createKey("laptop", "--account", a.id);
    ada = { id: a.id, key: own.secret, keyId: own.id };
    bob = { id: b.id, key: (await site.createKey("phone", "--account", b.id)).secret };
    acme = {
      id: org.id,
      ada: (await site.createKey("ada at work", "--account", org.id, "--user", a.id)).secret,
      bob: (await site.createKey("bob at work", "--account", org.id, "--user", b.id)).secret,
    };
    const members = await site.read<Printed[]>("members", "list", org.id);
    expect(members.map(({ role }) => role).sort()).toEqual(["member", "owner"]);
  });
});

describe.skipIf(!RUNS_SLOW_TESTS)("budgets, months ago", () => {
  let clock: TestClock;
  let gateway: TestGateway;
  /** What is held for one request. Nanodollars. */
  let held: number;
  /** The dollars of a limit that so many answers use up: of the last one is too little left for a further request. */
  const dollarsFor = (answers: number) => String(((answers - 1) * COST + held) / 1e9);
  const statusOf = async (key: string) => (await site.chat(key, "acme/small", gateway.url)).status;
  const statusesOf = async (...keys: string[]) => {
    const statuses: number[] = [];
    for (const key of keys) statuses.push(await statusOf(key));
    return statuses;
  };

  beforeAll(async () => {
    clock = createTestClock(tenthOfMonthBefore(systemClock.now(), 3));
    const { GATEWAY_ADMIN_KEY: _, ...environment } = site.environment;
    const { yaml, dataDir } = site;
    gateway = await startTestGateway({ clock, yaml, dataDir, environment, key: ada.key });
  });
  afterAll(() => gateway.stop({ keepData: true }));

  test("a request that a limit does not cover says how much it needs, and whose limit it is", async () => {
    const poor = await site.createKey("a trial", "--account", ada.id, "--spend-limit", "0.000001");
    const { status, text } = await site.chat(poor.secret, "acme/small", gateway.url);
    const { metadata } = JSON.parse(text).error;
    expect([status, metadata.limit_source]).toEqual([402, "key"]);
    held = Math.round(metadata.required * 1e9);
    expect(held).toBeGreaterThan(COST);
  });

  test("the operator sets limits of a key, a member and an organization", async () => {
    await site.print("keys", "update", ada.keyId, "--spend-limit", dollarsFor(1));
    await site.print("members", "set", acme.id, bob.id, "--daily-limit", dollarsFor(2));
    await site.print("orgs", "update", acme.id, "--monthly-limit", dollarsFor(5));
    clock.advance(SECOND_MS);
    expect(await site.print("keys", "list")).not.toBe("");
  });

  test("the spending limit of a key ends its use for ever, until it is raised", async () => {
    expect(await statusesOf(ada.key, ada.key)).toEqual([200, 402]);
    clock.leap(DAY_MS);
    expect(await statusOf(ada.key)).toBe(402);
  });

  test("the daily limit of a member ends at midnight, and other members do not have it", async () => {
    expect(await statusesOf(acme.bob, acme.bob, acme.bob, acme.ada)).toEqual([200, 200, 402, 200]);
    clock.leap(DAY_MS);
    expect(await statusOf(acme.bob)).toBe(200);
  });

  test("the monthly limit of an organization is that of all its members, and ends with the month", async () => {
    expect(await statusesOf(acme.ada, acme.ada, acme.bob)).toEqual([200, 402, 402]);
    clock.leap(DAY_MS);
    expect(await statusOf(acme.ada)).toBe(402);
    clock.leap(31 * DAY_MS);
    expect(await statusesOf(acme.ada, acme.bob)).toEqual([200, 200]);
    expect(await statusOf(ada.key)).toBe(402);
  });

  test("a key's limit of a day is free again at midnight", async () => {
    const limit = ["--spend-limit", dollarsFor(1), "--spend-limit-period", "day"];
    const daily = await site.createKey("a nightly job", "--account", bob.id, ...limit);
    expect(await statusesOf(daily.secret, daily.secret)).toEqual([200, 402]);
    clock.leap(DAY_MS);
    expect(await statusOf(daily.secret)).toBe(200);
  });

  // Budgets of further scopes and periods: a test here, with the accounts and the clock above.
});

describe.skipIf(!RUNS_SLOW_TESTS)("a day", () => {
  test(
    "a gateway starts on the same data, is ready, and the doctor finds nothing that does not work",
    async () => {
      for (const [command, ...args] of [
        ["keys", "update", ada.keyId, "--spend-limit", "none"],
        ["members", "set", acme.id, bob.id, "--daily-limit", "1"],
        ["orgs", "update", acme.id, "--monthly-limit", "5"],
      ] as const)
        await site.print(command, ...args);
      await site.start();
      expect(await site.ask("ready")).toMatchObject({ exitCode: 0 });
      const doctor = await site.run("doctor");
      expect([doctor.exitCode, doctor.stderr]).toEqual([0, ""]);
    },
    PROCESSES_MS,
  );

  test("a policy of an organization holds for its members alone, within a second", async () => {
    expect((await site.chat(acme.bob, "acme/large")).status).toBe(200);
    await site.print("orgs", "update", acme.id, "--allowed-models", "acme/small");
    const refused = await eventually("the policy", async () => {
      const answer = await site.chat(acme.bob, "acme/large");
      return answer.status === 200 ? null : answer;
    });
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("acme/large")]);
    expect((await site.chat(bob.key, "acme/large")).status).toBe(200);
    expect((await site.chat(acme.bob)).status).toBe(200);
  });

  test("a rate limit of a key says when to come again", async () => {
    const limited = await site.createKey("a script", "--account", ada.id, "--requests-per-minute", "2");
    const statuses = [];
    for (let count = 0; count < 2; count++) statuses.push((await site.chat(limited.secret)).status);
    const third = await site.chat(limited.secret);
    expect([...statuses, third.status]).toEqual([200, 200, 429]);
    expect(Number(third.headers.get("retry-after"))).toBeWithin(1, 61);
  });

  test("an organization's own provider key serves its members, and costs them nothing", async () => {
    site.knownKeys.add(BYOK_KEY);
    await site.addProviderKey(acme.id, BYOK_KEY);
    await eventually("the BYOK key", async () => {
      await site.chat(acme.bob);
      return site.answered.at(-1) === BYOK_KEY;
    });
    const before = site.answered.length;
    expect((await site.chat(bob.key)).status).toBe(200);
    expect(site.answered.slice(before)).toEqual([FIRST_PLATFORM_KEY]);
    expect(JSON.parse((await site.chat(acme.ada)).text).usage).toMatchObject({ cost: 0, is_byok: true });
  });

  test("usage, ledger and audit log tell the same as the provider's own list", async () => {
    await eventually("the charges", async () => (await sumUsage()) === billedByProvider());
    const rows = await site.read<Printed[]>("ledger", bob.id, "--kind", "usage");
    expect(rows.every(({ amount_nanodollars }) => amount_nanodollars === -COST)).toBe(true);
    expect(await site.print("ledger", "check")).toContain("All balances match");
    const audit = await site.read<Printed[]>("audit", "list", "--account", acme.id);
    const actions = audit.map(({ action }) => action);
    for (const action of ["gateway provider-keys add", "gateway orgs update", "gateway members set"])
      expect(actions).toContain(action);
    expect(await site.print("audit", "verify")).toContain("intact");
  });
});

describe.skipIf(!RUNS_SLOW_TESTS)("an operator replaces secrets while requests are served", () => {
  test("an API key: both work until the old one is revoked", async () => {
    const next = await site.createKey("laptop, 2", "--account", ada.id);
    expect([(await site.chat(ada.key)).status, (await site.chat(next.secret)).status]).toEqual([200, 200]);
    await site.print("keys", "revoke", ada.keyId);
    await eventually("the revocation", async () => (await site.chat(ada.key)).status === 401);
    expect((await site.chat(next.secret)).status).toBe(200);
    ada = { ...ada, key: next.secret, keyId: next.id };
  });

  test("a configuration with a mistake is rejected as a whole", async () => {
    site.configure({ attempts: 2, more: "log_levle: debug" });
    const refused = await site.ask("reload");
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain("log_levle is not a known key. Did you mean log_level?");
    site.configure({ more: "" });
    expect((await site.ask("reload", "--dry-run")).stdout).toMatch(/^limits\.attempts +3 +2 +on reload$/m);
  });

  test("the operator's key at the provider: a reload shows the change without the key, and a running answer ends", async () => {
    site.isHolding = true;
    const running = site.stream(bob.key);
    await site.untilHeld(1);
    site.configure({ platformKey: SECOND_PLATFORM_KEY });
    const planned = await site.ask("reload", "--dry-run");
    expect(planned.stdout).toMatch(/^providers\.acme\.api_keys .*on reload$/m);
    expect(planned.stdout).not.toContain("sk-acme");
    site.knownKeys.add(SECOND_PLATFORM_KEY);
    process.kill(site.pid, "SIGHUP");
    await eventually("the reload", async () =>
      (await site.ask("reload", "--dry-run")).stdout.startsWith("The configuration has not changed"),
    );
    site.knownKeys.delete(FIRST_PLATFORM_KEY);
    site.release();
    expect(await running).toEndWith("data: [DONE]\n\n");
    expect((await site.chat(bob.key)).status).toBe(200);
    expect(site.answered.at(-1)).toBe(SECOND_PLATFORM_KEY);
  });

  test(
    "the master key: stored keys are encrypted anew, and are used as before",
    async () => {
      if (ON_POSTGRES) await restartWithMasterKeys(`${FIRST_MASTER_KEY},${SECOND_MASTER_KEY}`);
      if (ON_POSTGRES) await restartWithMasterKeys(`${SECOND_MASTER_KEY},${FIRST_MASTER_KEY}`);
      expect(await site.print("secrets", "rotate")).toContain("Re-encrypted 1 secrets");
      if (ON_POSTGRES) await restartWithMasterKeys(SECOND_MASTER_KEY);
      expect((await site.chat(acme.bob)).status).toBe(200);
      expect(site.answered.at(-1)).toBe(BYOK_KEY);
      const keys = await site.read<Printed[]>("provider-keys", "list", "--account", acme.id);
      expect(keys.map(({ readable }) => readable)).toEqual([true]);
    },
    PROCESSES_MS,
  );
});

describe.skipIf(!RUNS_SLOW_TESTS)("an operator watches", () => {
  test("metrics are read with their token only, and count the requests", async () => {
    const scrape = (token: string) =>
      fetch(`${site.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    expect((await scrape("wrong-0123456789abcdef")).status).toBe(401);
    const before = parseScrape(await (await scrape(METRICS_TOKEN)).text());
    await site.chat(bob.key);
    const after = parseScrape(await (await scrape(METRICS_TOKEN)).text());
    const labels = { model: "acme/small", provider: "acme", outcome: "completed" };
    const count = (of: typeof before) => of.value("gateway_requests_total", labels) ?? 0;
    expect(count(after) - count(before)).toBe(1);
  });

  test("a webhook that is tested, and a provider that is down, are signed", async () => {
    expect(await site.ask("webhooks", "test")).toMatchObject({ exitCode: 0 });
    for (let round = 0; round < 6; round++)
      for (const model of ["broken/one", "broken/two"]) await site.chat(bob.key, model);
    const found = (type: string) => site.receiver.received.find(({ body }) => body.type === type);
    for (const type of ["webhook.test", "provider.down"]) {
      const event = await eventually(type, () => found(type));
      expect([type, isSigned(event, WEBHOOK_SECRET)]).toEqual([type, true]);
    }
    expect(found("provider.down")?.body.data).toEqual({ provider: "broken" });
  });
});

// PostgreSQL has backups of its own.
describe.skipIf(ON_POSTGRES || !RUNS_SLOW_TESTS)("a backup", () => {
  test(
    "is made while requests are served, is proved, and another machine goes on from it",
    async () => {
      await eventually("the charges", async () => (await sumUsage()) === billedByProvider());
      const before = await balanceOf(bob.id);
      const load = startLoad();
      const folder = join(site.workspace.folder, "backup");
      await site.print("backup", "create", folder, "--include-master-key");
      const requests = await load.stop();
      expect(requests).toBeGreaterThan(0);
      expect(await site.print("backup", "verify", folder)).toContain("0 failures");

      const other = new Installation();
      try {
        other.configure();
        other.knownKeys.add(BYOK_KEY);
        await other.print("backup", "restore", folder);
        const spent = before - (await balanceIn(other, bob.id));
        expect(spent % COST).toBe(0);
        expect(spent / COST).toBeWithin(0, requests + 1);
        expect(await other.print("ledger", "check")).toContain("All balances match");
        await other.start();
        expect([(await other.chat(bob.key)).status, (await other.chat(acme.bob)).status]).toEqual([200, 200]);
        expect(other.answered).toEqual([FIRST_PLATFORM_KEY, BYOK_KEY]);
      } finally {
        await other.remove();
      }
    },
    PROCESSES_MS,
  );
});

describe.skipIf(!RUNS_SLOW_TESTS)("the end of the day", () => {
  test("a stop under load loses no answer, and the books are even afterwards", async () => {
    site.isHolding = true;
    const streams = Array.from({ length: 10 }, () => site.stream(bob.key));
    const answers = Array.from({ length: 10 }, () => site.chat(ada.key));
    await site.untilHeld(20);
    await eventually("the holds", async () => (await site.read<Printed[]>("holds")).length === 20);
    const { url } = site;
    const stopped = site.stop();
    await eventually("the closed listener", () =>
      fetch(`${url}/healthz`, { keepalive: false }).then(
        () => false,
        () => true,
      ),
    );
    site.release();
    for (const text of await Promise.all(streams)) expect(text).toEndWith("data: [DONE]\n\n");
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect((await stopped).exitCode).toBe(0);
    expect(await site.print("ledger", "check")).toContain("All balances match");
    expect(await sumUsage()).toBe(billedByProvider());
    const balances = await Promise.all([ada.id, bob.id, acme.id].map(balanceOf));
    expect(balances.reduce((sum, balance) => sum + balance)).toBe(3 * GRANT * 1e9 - billedByProvider());
  });
});

describe.skipIf(!RUNS_SLOW_TESTS)("an upgrade", () => {
  test("a database that a newer version has migrated is left alone: a start and each command say what to install", async () => {
    const undo = await markAsNewer(site.dataDir, await site.databaseUrl());
    for (const args of [["start"], ["keys", "list"], ["migrate"]]) {
      const { exitCode, stderr } = await site.run(...args);
      expect([args, exitCode, stderr]).toEqual([args, 1, expect.stringMatching(/newer version.*[Ii]nstall/)]);
    }
    await undo();
    expect(await site.print("ledger", "check")).toContain("All balances match");
  });

  test(
    "a database of an early version is migrated by the first start, and its keys and balances are those of before",
    async () => {
      const former = { id: "user_former", secret: ada.key, granted: 1_000_000_000 };
      const upgraded = new Installation();
      upgraded.configure();
      try {
        await writeFormerDatabase(upgraded.dataDir, await upgraded.databaseUrl(), former);
        await upgraded.start();
        expect((await upgraded.chat(former.secret)).status).toBe(200);
        expect((await upgraded.stop()).exitCode).toBe(0);
        expect(await upgraded.print("migrate")).toContain("nothing to apply");
        expect(await balanceIn(upgraded, former.id)).toBe(former.granted - COST);
        expect(await upgraded.print("ledger", "check")).toContain("All balances match");
      } finally {
        await upgraded.remove();
      }
    },
    PROCESSES_MS,
  );
});

/** Returns noon of the tenth day of a month, `months` before a time. Milliseconds since the epoch. */
function tenthOfMonthBefore(ms: number, months: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months, 10, 12);
}

const balanceOf = (account: string) => balanceIn(site, account);

async function balanceIn(installation: Installation, account: string): Promise<number> {
  const balance = await installation.read<Record<string, number>>("credits", "balance", account);
  return balance["balance_nanodollars"] as number;
}

/** What all accounts were charged, as the usage report has it. Nanodollars. */
async function sumUsage(): Promise<number> {
  const from = new Date(tenthOfMonthBefore(systemClock.now(), 4)).toISOString().slice(0, 10);
  const rows = await site.read<Printed[]>("usage", "--by", "account", "--from", from);
  return rows.reduce((sum, row) => sum + Number(row["cost_nanodollars"]), 0);
}

/** What the answers with the operator's keys cost, as the provider counts them. Nanodollars. */
function billedByProvider(): number {
  return site.answered.filter((key) => key !== BYOK_KEY).length * COST;
}

/** Sends requests of one user without a pause until `stop`, which returns how many were answered. */
function startLoad() {
  let isStopped = false;
  const ask = async (): Promise<number> => {
    let answers = 0;
    while (!isStopped) {
      expect((await site.chat(bob.key)).status).toBe(200);
      answers += 1;
    }
    return answers;
  };
  const asking = Promise.all([ask(), ask(), ask()]);
  return {
    async stop(): Promise<number> {
      isStopped = true;
      return (await asking).reduce((sum, answers) => sum + answers);
    },
  };
}

async function restartWithMasterKeys(keys: string): Promise<void> {
  expect((await site.stop()).exitCode).toBe(0);
  site.environment = { GATEWAY_ADMIN_KEY: ADMIN_KEY, GATEWAY_SECRETS_KEY: keys };
  await site.start();
}
