/**
 * `npm run suite -- growth`: fills a SQLite database with generations and keys, starts a gateway on it, and makes the calls of the console's
 * screens, and those of the gateway itself: retention and roll-up delete half of the days. Prints for each how long it takes, how long the
 * event loop works for it, and how long another request waits at most, in all and while the event loop works. Fails if that is more than
 * 50 ms of work: it is processor time, which other programs of the machine do not change. `--generations`, `--keys`, `--days` choose the size;
 * `--dir` keeps the database there, or uses the one that is there; `--checkout` measures another version.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { migrateDataDir } from "../../src/storage/sqlite/connection/database.ts";
import { findFreePort } from "../support/servers/free-port.ts";
import { fillDatabase } from "./fill-database.ts";
import { listManagementCalls } from "./management-calls.ts";

const { values: options } = parseArgs({
  options: {
    generations: { type: "string", default: "5000000" },
    keys: { type: "string", default: "1000000" },
    users: { type: "string", default: "100000" },
    days: { type: "string", default: "60" },
    dir: { type: "string" },
    checkout: { type: "string", default: join(import.meta.dir, "../..") },
  },
});

/** The longest work of the event loop that another request may wait for. Milliseconds. */
const MAX_STALL_MS = 50;
/** When retention and roll-up begin after a start, with some seconds to spare, and how long they are watched. Milliseconds. */
const SWEEP_AFTER_MS = 5 * 60_000 + 5_000;
const SWEEP_MS = 60_000;
const ADMIN_KEY = "only-for-this-test-0123456789abcdef";
const PING_MS = 5;
const START_MS = 120_000;
/** Calls at once: those of several people who open the same screen. */
const AT_ONCE = 4;

const dataDir =
  options.dir === undefined ? mkdtempSync(join(tmpdir(), "gateway-growth-")) : resolve(options.dir);
if (!existsSync(join(dataDir, "gateway.db"))) {
  migrateDataDir(dataDir);
  const { generations, keys, users, days } = options;
  const size = {
    generations: Number(generations),
    keys: Number(keys),
    users: Number(users),
    days: Number(days),
  };
  fillDatabase(dataDir, size, Date.now());
}

const kept = Math.floor(Number(options.days) / 2);
writeFileSync(
  join(dataDir, "gateway.yaml"),
  `storage: { retention_days: ${kept}, hourly_usage_days: ${kept} }\n`,
);
const port = await findFreePort();
const origin = `http://127.0.0.1:${port}`;
const child = Bun.spawn([process.execPath, join(options.checkout, "src/main.ts"), "start"], {
  cwd: dataDir,
  env: {
    PATH: process.env["PATH"] ?? "",
    HOME: dataDir,
    GATEWAY_DATA_DIR: dataDir,
    GATEWAY_PORT: String(port),
    GATEWAY_ADMIN_KEY: ADMIN_KEY,
    MIMALLOC_PURGE_DELAY: "-1",
  },
  stdout: "ignore",
  stderr: "inherit",
});

/** Returns the processor time of the thread of the event loop. Milliseconds. */
function workOfLoop(): number {
  const [nanoseconds] = readFileSync(`/proc/${child.pid}/task/${child.pid}/schedstat`, "utf8").split(" ");
  return Number(nanoseconds) / 1e6;
}

async function waitUntilReady(): Promise<void> {
  const end = Date.now() + START_MS;
  for (;;) {
    const isReady = await fetch(`${origin}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    if (Date.now() > end || child.exitCode !== null) throw new Error("the gateway does not start");
    await Bun.sleep(50);
  }
}

/** Makes small requests until it is stopped. Returns the longest time of one. */
/** The longest wait of a small request, and the most work of the event loop during one. Milliseconds. */
interface Longest {
  waitMs: number;
  workMs: number;
}

/** Makes small requests until the returned function is called. */
function watch(): () => Promise<Longest> {
  let isOver = false;
  const longest: Longest = { waitMs: 0, workMs: 0 };
  const pinging = (async () => {
    while (!isOver) {
      const [began, workBefore] = [performance.now(), workOfLoop()];
      await (await fetch(`${origin}/healthz`)).arrayBuffer();
      longest.waitMs = Math.max(longest.waitMs, performance.now() - began);
      longest.workMs = Math.max(longest.workMs, workOfLoop() - workBefore);
      await Bun.sleep(PING_MS);
    }
  })();
  return async () => {
    isOver = true;
    await pinging;
    return longest;
  };
}

/** Measures some work, which returns its statuses. */
async function measure(name: string, work: () => Promise<readonly number[]>) {
  const stop = watch();
  const before = workOfLoop();
  const began = performance.now();
  const statuses = await work();
  const tookMs = Math.round(performance.now() - began);
  const { waitMs, workMs } = await stop();
  return {
    call: name,
    status: statuses.join(" "),
    tookMs,
    loopMs: Math.round(workOfLoop() - before),
    waitMs: Math.round(waitMs),
    workMs: Math.round(workMs),
  };
}

function call(path: string, number = 1): Promise<readonly number[]> {
  return Promise.all(
    Array.from({ length: number }, async () => {
      const response = await fetch(`${origin}/api/admin${path}`, {
        headers: { authorization: `Bearer ${ADMIN_KEY}` },
      });
      await response.arrayBuffer();
      return response.status;
    }),
  );
}

type Result = Awaited<ReturnType<typeof measure>>;

function print({ call, status, tookMs, loopMs, waitMs, workMs }: Result): void {
  console.log(
    `${call.padEnd(36)} ${status.padEnd(16)} ${tookMs} ms, event loop ${loopMs} ms, another request waits ${waitMs} ms, for ${workMs} ms of work`,
  );
}

const isStalled = ({ workMs }: Result): boolean => workMs > MAX_STALL_MS;

try {
  const began = performance.now();
  await waitUntilReady();
  console.log(`ready after ${Math.round(performance.now() - began)} ms`);
  const results: Result[] = [];
  const add = async (name: string, work: () => Promise<readonly number[]>): Promise<void> => {
    const result = await measure(name, work);
    print(result);
    results.push(result);
  };
  for (const { name, path } of listManagementCalls(Date.now())) await add(name, () => call(path));
  await add(`usage of 30 days, ${AT_ONCE} at once`, () => call("/usage", AT_ONCE));
  await Bun.sleep(Math.max(0, began + SWEEP_AFTER_MS - performance.now()));
  await add("retention and roll-up, the first minute", async () => {
    await Bun.sleep(SWEEP_MS);
    return call("/generations?limit=1");
  });
  for (const { call, workMs } of results.filter(isStalled))
    console.error(`another request waits for ${workMs} ms of work during: ${call}`);
  process.exitCode = results.some(isStalled) ? 1 : 0;
} finally {
  child.kill("SIGTERM");
  await child.exited;
  if (options.dir === undefined) rmSync(dataDir, { recursive: true, force: true });
}
