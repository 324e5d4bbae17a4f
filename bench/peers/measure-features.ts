import { closedTrial } from "../load/trials.ts";
import type { Running } from "../targets/contestant.ts";
import { createPrepaidKey, RATE_LIMIT, SPEND_LIMIT, startVariant } from "../targets/gateway.ts";
import type { Installation } from "../targets/start-gateway.ts";
import { stopAll } from "./measure-loops.ts";
import { type Lab, measureInRounds, warmUp } from "./rounds.ts";

/** One feature of this gateway, switched on alone. */
interface Feature {
  readonly name: string;
  /** Fields of the API key. */
  readonly key?: object;
  /** The rest of the configuration file. */
  readonly yaml?: string;
  readonly exportsTraces?: boolean;
  readonly hasMetrics?: boolean;
  /** Headers of the requests. */
  readonly headers?: Readonly<Record<string, string>>;
}

const REQUEST_GUARDRAILS = `guardrails:
  - {name: no-secrets, kind: regex, action: block, patterns: ["sk-[A-Za-z0-9]{20,}"]}
  - {name: personal-data, kind: pii, action: mask}
  - {name: injection, kind: injection, action: warn}
`;
const ANSWER_GUARDRAILS = `guardrails:
  - {name: personal-data, kind: pii, on: answer, action: mask}
`;

/** The first has none. The answer cache is asked to store and never to hit, because hits would reach no upstream. */
const FEATURES: readonly Feature[] = [
  { name: "none" },
  { name: "spending limit", key: { spend_limit: SPEND_LIMIT } },
  { name: "three rate limits", key: { rate_limit: RATE_LIMIT } },
  { name: "guardrails on requests", yaml: REQUEST_GUARDRAILS },
  { name: "guardrail on answers", yaml: ANSWER_GUARDRAILS },
  { name: "metrics", hasMetrics: true },
  { name: "traces", exportsTraces: true },
  { name: "answer cache, no hit", key: { cache: 600 }, headers: { "cache-control": "no-cache" } },
  { name: "prompt log", key: { prompt_log: 3_600 } },
];

/** Measures what each feature of this gateway adds to the processor time of a small request. */
export async function measureFeatures(lab: Lab): Promise<void> {
  const { plan, harness } = lab;
  const collector = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => Response.json({}) });
  const running: Running[] = [];
  for (const feature of FEATURES)
    running.push(await startFeature(feature, harness.upstreamPort, collector.port ?? 0));
  lab.say("features …");
  const { requests, limitMs } = plan.warmUp;
  await warmUp(lab, running, { cell: "features", trial: closedTrial(limitMs, { maxRequests: requests }) });
  const trial = closedTrial(plan.closedMs, {});
  await measureInRounds(lab, running, {
    measure: async (subject) => {
      const { cpuUs, requests } = await harness.run(subject, trial);
      return { "features.cpu": cpuUs / requests };
    },
  });
  await stopAll(running);
  await collector.stop(true);
}

async function startFeature(feature: Feature, upstreamPort: number, collectorPort: number): Promise<Running> {
  const { name, key = {}, yaml = "", exportsTraces = false, hasMetrics = false, headers = {} } = feature;
  const installation: Partial<Installation> = {
    yaml: `${hasMetrics ? "" : "metrics: {enabled: false}\n"}${yaml}`,
    environment: exportsTraces ? { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collectorPort}` } : {},
    createKey: (manage) => createPrepaidKey(manage, key),
  };
  const running = await startVariant(name, upstreamPort, installation);
  return { ...running, door: { ...running.door, headers: { ...running.door.headers, ...headers } } };
}
