/**
 * One long outage of PostgreSQL under load, and what clients, memory and journal see of it: `npm run suite -- outage`.
 *
 * --kind=<kind>      killed, paused, cut, stalled, or slow
 * --minutes=<n>      how long it lasts
 * --pause=<ms>       the pause of each of the two clients between two requests
 */
import { parseArgs } from "node:util";
import { startTestPostgres, type TestPostgres } from "../support/databases/postgres.ts";
import { type OutageSite, startOutageSite } from "../support/vendors/outage-site.ts";

const { values: options } = parseArgs({
  options: {
    kind: { type: "string", default: "paused" },
    minutes: { type: "string", default: "10" },
    pause: { type: "string", default: "20" },
  },
});

const MINUTE_MS = 60_000;
const REPORT_MS = 30_000;
const SLOW_MS = 1_000;

type Step = (server: TestPostgres, site: OutageSite) => Promise<void> | void;

const KINDS: Readonly<Record<string, { readonly begin: Step; readonly end: Step }>> = {
  killed: { begin: (server) => server.kill(), end: (server) => server.start() },
  paused: { begin: (server) => server.pause(), end: (server) => server.resume() },
  cut: { begin: (_server, { proxy }) => proxy.cut(), end: (_server, { proxy }) => proxy.heal() },
  stalled: { begin: (_server, { proxy }) => proxy.stall(), end: (_server, { proxy }) => proxy.heal() },
  slow: { begin: (_server, { proxy }) => proxy.delay(SLOW_MS), end: (_server, { proxy }) => proxy.heal() },
};

const kind = KINDS[options.kind];
if (kind === undefined) throw new Error(`--kind must be one of ${Object.keys(KINDS).join(", ")}`);

const server = await startTestPostgres();
const yaml = "limits: {journal_bytes: 1073741824}";
const site = await startOutageSite(server, await server.createMigratedDatabase(), {
  yaml,
  pauseMs: Number(options.pause),
});
try {
  await site.serve(50);
  await report("before");
  await kind.begin(server, site);
  const until = performance.now() + Number(options.minutes) * MINUTE_MS;
  while (performance.now() < until) {
    await Bun.sleep(Math.min(REPORT_MS, until - performance.now()));
    await report("during");
  }
  await kind.end(server, site);
  const endedAt = performance.now();
  await site.untilReady("ready");
  console.log(`ready ${((performance.now() - endedAt) / 1_000).toFixed(1)} s after the end`);
  const problems = await site.checkBooks();
  console.log(`books checked ${((performance.now() - endedAt) / 1_000).toFixed(1)} s after the end`);
  await report("after");
  console.log(problems.length === 0 ? "each answer was recorded and charged once" : problems.join("\n"));
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  await site.stop();
  await server.remove();
}
process.exit();

async function report(when: string): Promise<void> {
  const readiness = (await (await fetch(`${site.gateway.url}/readyz`)).text()).slice(0, 300);
  const megabytes = Math.round(process.memoryUsage.rss() / 1e6);
  const unbounded = JSON.stringify([...site.takeStatuses()]);
  const prepaid = JSON.stringify([...site.takePayerStatuses()]);
  console.log(`${when}: unbounded ${unbounded}, prepaid ${prepaid}, ${megabytes} MB, ${readiness}`);
}
