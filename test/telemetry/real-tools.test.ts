import { afterEach, describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { eventually } from "../support/eventually.ts";
import { postChat, startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { findFreePort } from "../support/servers/free-port.ts";
import { readDashboard } from "../support/servers/grafana-board.ts";
import { startTestCollector, type TestCollector } from "../support/servers/otlp-collector.ts";
import { makeTempFolder } from "../support/temp-folder.ts";

/** Set by `npm run suite -- telemetry`, because the programs take seconds to start. */
const IS_WANTED = process.env["GATEWAY_TEST_TELEMETRY"] === "true";
const PROMETHEUS = Bun.which("prometheus");
/** A build of the OpenTelemetry collector with the receiver `otlp` and the exporter `debug`. */
const COLLECTOR = process.env["GATEWAY_OTELCOL"] ?? Bun.which("otelcol") ?? Bun.which("otelcol-contrib");
/** A Python with OpenTelemetry's messages: `pip install opentelemetry-proto`. */
const PYTHON = findPython();
if (IS_WANTED && PYTHON === null)
  console.log("a Python with opentelemetry-proto is missing (GATEWAY_PYTHON): OTLP is not decoded with it");
if (IS_WANTED && PROMETHEUS === null) console.log("prometheus is missing: it is not tested");
if (IS_WANTED && COLLECTOR === null) console.log("otelcol is missing (GATEWAY_OTELCOL): it is not tested");

const TOKEN = "metrics-token-0123456789";
const DECODER = join(import.meta.dir, "decode_otlp.py");
const RULES_FILE = join(import.meta.dir, "..", "..", "deploy", "prometheus", "alerts.yaml");

let folder = "";
let program: Subprocess | null = null;
let gateway: TestGateway | null = null;
afterEach(async () => {
  await gateway?.stop();
  program?.kill();
  await program?.exited;
  program = null;
  gateway = null;
  if (folder !== "") rmSync(folder, { recursive: true, force: true });
});

/** Returns a Python that has the messages; null if there is none, or if it is not wanted. */
function findPython(): string | null {
  const python = process.env["GATEWAY_PYTHON"] ?? Bun.which("python3");
  if (!IS_WANTED || python === null) return null;
  const tried = Bun.spawnSync([python, "-c", "import opentelemetry.proto.trace.v1.trace_pb2"]);
  return tried.exitCode === 0 ? python : null;
}

async function ask(to: TestGateway): Promise<void> {
  const body = { model: "sandbox/echo", messages: [{ role: "user", content: "Hello!" }], stream: true };
  await (await postChat(to, body)).text();
}

describe.skipIf(!IS_WANTED || PROMETHEUS === null)("a Prometheus server", () => {
  async function startPrometheus(target: string): Promise<string> {
    folder = makeTempFolder("gateway-prometheus-");
    const config = {
      global: { scrape_interval: "1s", evaluation_interval: "1s" },
      rule_files: [RULES_FILE],
      scrape_configs: [
        {
          job_name: "gateway",
          authorization: { credentials: TOKEN },
          static_configs: [{ targets: [target] }],
        },
      ],
    };
    const file = join(folder, "prometheus.yml");
    writeFileSync(file, JSON.stringify(config));
    const address = `127.0.0.1:${await findFreePort()}`;
    program = Bun.spawn(
      [
        PROMETHEUS as string,
        `--config.file=${file}`,
        `--storage.tsdb.path=${join(folder, "data")}`,
        `--web.listen-address=${address}`,
      ],
      { stdout: "ignore", stderr: "ignore" },
    );
    return `http://${address}/api/v1`;
  }

  // biome-ignore lint/suspicious/noExplicitAny: an answer of Prometheus.
  async function get(api: string, path: string): Promise<any> {
    return (await fetch(`${api}${path}`)).json();
  }

  test("scrapes the gateway, and evaluates every rule and every panel of the board", async () => {
    gateway = await startTestGateway({ yaml: `sandbox: on\nmetrics:\n  token: ${TOKEN}` });
    await ask(gateway);
    const api = await startPrometheus(new URL(gateway.url).host);
    const found = await eventually("the first scrape", async () => {
      const answer = await get(api, "/query?query=gateway_requests_total").catch(() => null);
      return answer?.data.result[0];
    });
    expect(found.metric).toMatchObject({ job: "gateway", model: "sandbox/echo", outcome: "completed" });
    for (const expression of readDashboard().queries) {
      const query = expression
        .replaceAll("$__rate_interval", "1m")
        .replaceAll(/\$(job|model|provider)\b/g, ".*");
      const { status, error } = await get(api, `/query?query=${encodeURIComponent(query)}`);
      expect([query, status, error]).toEqual([query, "success", undefined]);
    }
    await eventually("the evaluation of all rules", async () => {
      const { data } = await get(api, "/rules");
      const rules = data.groups.flatMap(
        ({ rules }: { rules: { health: string; lastError?: string }[] }) => rules,
      );
      expect(rules.filter(({ health }: { health: string }) => health === "err")).toEqual([]);
      return rules.length > 0 && rules.every(({ health }: { health: string }) => health === "ok");
    });
  });
});

describe.skipIf(!IS_WANTED || COLLECTOR === null)("an OpenTelemetry collector", () => {
  test("takes traces and metrics, with their names, attributes and resource", async () => {
    folder = makeTempFolder("gateway-collector-");
    const endpoint = `127.0.0.1:${await findFreePort()}`;
    const pipeline = { receivers: ["otlp"], exporters: ["debug"] };
    const config = {
      receivers: { otlp: { protocols: { http: { endpoint } } } },
      exporters: { debug: { verbosity: "detailed" } },
      service: {
        pipelines: { traces: pipeline, metrics: pipeline },
        telemetry: { metrics: { level: "none" } },
      },
    };
    const file = join(folder, "collector.yaml");
    writeFileSync(file, JSON.stringify(config));
    const output = join(folder, "output");
    program = Bun.spawn([COLLECTOR as string, `--config=${file}`], {
      stdout: "ignore",
      stderr: Bun.file(output),
    });
    const print = () => Bun.file(output).text();
    await eventually("the start of the collector", async () =>
      (await print()).includes("Everything is ready"),
    );
    gateway = await startTestGateway({
      yaml: "sandbox: on\ntelemetry:\n  gen_ai_semconv: latest",
      environment: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://${endpoint}`, OTEL_SERVICE_NAME: "edge" },
    });
    await ask(gateway);
    const trace = gateway.log.find(({ event }) => event === "request")?.fields["trace_id"];
    await gateway.stop();
    gateway = null;
    const text = await eventually("the export of both signals", async () => {
      const printed = await print();
      return printed.includes("gateway_requests_total") && printed.includes("Span #1") ? printed : null;
    });
    expect(text).toContain(`Trace ID       : ${trace}`);
    expect(text).toContain("Name           : POST /chat/completions");
    expect(text).toContain("Kind           : Server");
    expect(text).toContain("Name           : chat sandbox/echo");
    expect(text).toContain("Kind           : Client");
    expect(text).toContain("gen_ai.operation.name: Str(chat)");
    expect(text).toContain("gateway.attempts: Int(1)");
    expect(text).toContain("service.name: Str(edge)");
    expect(text).toContain("DataType: Histogram");
    expect(text).toContain("AggregationTemporality: Cumulative");
    expect(text).not.toContain("Hello!");
  });
});

describe.skipIf(PYTHON === null)("OpenTelemetry's own messages", () => {
  // biome-ignore lint/suspicious/noExplicitAny: the output of the decoder.
  async function decode(collector: TestCollector): Promise<any> {
    const lines = collector.bodies.map((body, index) =>
      JSON.stringify({ path: collector.requests[index]?.path, body }),
    );
    const child = Bun.spawn([PYTHON as string, DECODER], {
      stdin: Buffer.from(lines.join("\n")),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect([await child.exited, stderr]).toEqual([0, ""]);
    return JSON.parse(stdout);
  }

  test("have every field and value of the exported traces and metrics", async () => {
    const collector = startTestCollector();
    gateway = await startTestGateway({
      yaml: "sandbox: on\ntelemetry:\n  gen_ai_semconv: latest",
      environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SERVICE_NAME: "edge" },
    });
    await ask(gateway);
    const trace = gateway.log.find(({ event }) => event === "request")?.fields["trace_id"];
    await gateway.stop();
    gateway = null;
    const { services, spans, metrics } = await decode(collector);
    await collector.stop();
    expect(new Set(services)).toEqual(new Set(["edge"]));
    const [server, client] = ["SPAN_KIND_SERVER", "SPAN_KIND_CLIENT"].map((kind) =>
      spans.find((span: { kind: string }) => span.kind === kind),
    );
    expect(server).toMatchObject({ traceId: trace, name: "POST /chat/completions" });
    expect(client).toMatchObject({ traceId: trace, name: "chat sandbox/echo", parentSpanId: server.spanId });
    expect(client.nanoseconds).toBeGreaterThan(0);
    expect(client.attributes).toMatchObject({ "gen_ai.operation.name": "chat" });
    expect(server.attributes).toMatchObject({ "gateway.attempts": 1 });
    const kinds = new Map(metrics.map((metric: { name: string }) => [metric.name, metric]));
    const cumulative = { points: 1, temporality: "AGGREGATION_TEMPORALITY_CUMULATIVE" };
    expect(kinds.get("gateway_requests_total")).toMatchObject({ kind: "sum", ...cumulative });
    expect(kinds.get("gateway_request_duration_seconds")).toMatchObject({
      kind: "histogram",
      isComplete: true,
      ...cumulative,
    });
    expect(kinds.get("gateway_inflight")).toMatchObject({ kind: "gauge", points: 1 });
  });
});
