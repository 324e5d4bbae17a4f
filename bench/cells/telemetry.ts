/** `npm run bench -- --telemetry`: what metrics and traces add to the cost of a small request. See README.md. */

import { Harness, type Trial } from "../load/harness.ts";
import { closedTrial } from "../load/trials.ts";
import { inTurn } from "../load/turns.ts";
import { ROOT } from "../machine/folders.ts";
import { formatRatio, medianOf } from "../report/figures.ts";
import type { Running } from "../targets/contestant.ts";
import { startGateway } from "../targets/start-gateway.ts";

const CONNECTIONS = 32;
const FULL = { rounds: 30, durationMs: 1_000, warmUpRequests: 20_000, warmUpMs: 20_000 } as const;
const QUICK = { rounds: 5, durationMs: 1_000, warmUpRequests: 5_000, warmUpMs: 5_000 } as const;
const METRICS_OFF = "metrics:\n  enabled: false\n";

/** A gateway with some of its telemetry on. */
interface Variant {
  readonly name: string;
  readonly checkout: string;
  readonly yaml: string;
  readonly exportsTraces: boolean;
}

interface Site extends Variant {
  readonly target: Running;
}

/** Measures the variants in turn and returns the table. `before` is another checkout to compare with; null for none. */
export async function compareTelemetry(isQuick: boolean, before: string | null): Promise<string> {
  const { rounds, durationMs, warmUpRequests, warmUpMs } = isQuick ? QUICK : FULL;
  const harness = await Harness.start();
  const collector = startCollector();
  const sites: Site[] = [];
  for (const variant of listVariants(before)) sites.push(await startSite(variant, harness, collector.url));
  const warmUp = closedTrial(warmUpMs, { connections: CONNECTIONS, maxRequests: warmUpRequests });
  const costs = new Map<string, number[]>(sites.map(({ name }) => [name, []]));
  for (const { target } of sites) await measure(harness, target, warmUp);
  const trial = closedTrial(durationMs, { connections: CONNECTIONS });
  for (let round = 0; round < rounds; round++)
    for (const { name, target } of inTurn(sites, round))
      costs.get(name)?.push(await measure(harness, target, trial));
  for (const { target } of sites) await target.stop();
  await harness.stop();
  const spans = await collector.stop();
  return `${render(costs)}\nThe collector received ${spans} spans.`;
}

function listVariants(before: string | null): readonly Variant[] {
  const variant = { checkout: ROOT, yaml: METRICS_OFF, exportsTraces: false };
  return [
    ...(before === null ? [] : [{ ...variant, name: "before", checkout: before, yaml: "" }]),
    { ...variant, name: "off" },
    { ...variant, name: "metrics", yaml: "" },
    { ...variant, name: "metrics and traces", yaml: "", exportsTraces: true },
  ];
}

async function startSite(variant: Variant, { upstreamPort }: Harness, collectorUrl: string): Promise<Site> {
  const { checkout, yaml, exportsTraces } = variant;
  const environment: Record<string, string> = exportsTraces
    ? { OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl }
    : {};
  const target = await startGateway({ name: "gateway", checkout, yaml, environment }, upstreamPort);
  return { ...variant, target };
}

/** Returns the processor time of a request. Microseconds. */
async function measure(harness: Harness, target: Running, trial: Trial): Promise<number> {
  const { cpuUs, requests } = await harness.run(target, trial);
  return cpuUs / requests;
}

/** Takes exports and counts their spans. */
function startCollector() {
  let spans = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const body = Buffer.from(await request.arrayBuffer());
      const isGzipped = request.headers.get("content-encoding") === "gzip";
      const text = isGzipped ? Buffer.from(Bun.gunzipSync(body)).toString() : body.toString();
      spans += text.split('"spanId"').length - 1;
      return Response.json({});
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    async stop(): Promise<number> {
      await server.stop(true);
      return spans;
    },
  };
}

function render(costs: ReadonlyMap<string, readonly number[]>): string {
  const base = costs.get("off") ?? [];
  const lowestOfBase = Math.min(...base);
  const rows = [...costs].map(([name, all]) => {
    const ratios = all.map((cost, round) => cost / (base[round] as number));
    const lowest = Math.min(...all);
    return `| ${name} | ${lowest.toFixed(0)} | ${formatRatio(lowest / lowestOfBase)} | ${(medianOf(all) ?? 0).toFixed(0)} | ${formatRatio(medianOf(ratios) ?? 0)} |`;
  });
  return [
    "Processor time of a request, µs. Other work of the machine makes requests more expensive and never cheaper, so the lowest of all rounds is the better figure.",
    "| Telemetry | lowest | ratio to off | median | median of the rounds' ratios |",
    "|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}
