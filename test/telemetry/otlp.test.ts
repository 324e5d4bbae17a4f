import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { waitFor } from "../support/event-loop.ts";
import { postChat, startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { callAdmin } from "../support/gateway/management.ts";
import {
  type ReceivedSpan,
  startTestCollector,
  type TestCollector,
} from "../support/servers/otlp-collector.ts";
import { scrape } from "../support/servers/scrape.ts";
import {
  answerHello,
  type RecordingVendor,
  startRecordingVendor,
  yamlFor,
} from "../support/vendors/recording-vendor.ts";

const CHAT = { model: "acme/model", messages: [{ role: "user", content: "a secret question" }] };
const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const PARENT_ID = "b7ad6b7169203331";
const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;

let vendor: RecordingVendor;
let collector: TestCollector;
let gateway: TestGateway;
beforeEach(() => {
  vendor = startRecordingVendor();
  collector = startTestCollector();
});
afterEach(async () => {
  await vendor.stop();
  await collector.stop();
});

/** What the configuration of a gateway has besides the vendor. A reload reads it again. */
let settings: string;

async function start(environment: Readonly<Record<string, string>> = {}, more = ""): Promise<void> {
  settings = more;
  const readYaml = () => `${yamlFor(vendor)}\n${settings}`;
  gateway = await startTestGateway({
    yaml: readYaml(),
    readYaml,
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...environment },
    repeats: 0,
  });
}

async function ask(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const response = await postChat(gateway, body, headers);
  await response.arrayBuffer();
  return response.status;
}

const find = (kind: number): readonly ReceivedSpan[] => collector.spans.filter((span) => span.kind === kind);
const only = (kind: number): ReceivedSpan => {
  const [span, ...others] = find(kind);
  if (span === undefined || others.length > 0) throw new Error(`${find(kind).length} spans of kind ${kind}`);
  return span;
};

describe("the trace of a request", () => {
  test("has a span for the request and one below it for its attempt, which is sent when the gateway stops", async () => {
    await start({ OTEL_SERVICE_NAME: "edge", OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=a%2Cb" });
    expect(await ask({ ...CHAT, stream: true })).toBe(200);
    const line = gateway.log.find(({ event }) => event === "request");
    await gateway.stop();
    const server = only(SERVER);
    const client = only(CLIENT);
    expect(server.name).toBe("POST /chat/completions");
    expect(server.parentSpanId).toBeUndefined();
    expect(line?.fields["trace_id"]).toBe(server.traceId);
    expect(server.attributes).toMatchObject({
      "http.request.method": "POST",
      "http.response.status_code": 200,
      "gateway.outcome": "completed",
      "gateway.model": "acme/model",
      "gateway.provider": "vendor",
      "gateway.completion_tokens": 2,
    });
    expect(client).toMatchObject({
      name: "chat acme/model",
      traceId: server.traceId,
      parentSpanId: server.spanId,
    });
    expect(client.attributes).toMatchObject({ "gateway.attempt": 1, "gateway.result": "ok" });
    expect(Object.keys(client.attributes).filter((key) => key.startsWith("gen_ai."))).toEqual([]);
    expect(BigInt(client.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(server.startTimeUnixNano));
    expect(BigInt(client.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(server.endTimeUnixNano));
    expect(BigInt(server.endTimeUnixNano)).toBeGreaterThan(BigInt(server.startTimeUnixNano));
    expect(collector.resource).toMatchObject({
      "service.name": "edge",
      "deployment.environment": "a,b",
    });
    expect(collector.requests[0]?.headers.get("content-encoding")).toBeNull();
  });

  test("never contains prompts, answers, keys or accounts", async () => {
    await start({}, "telemetry:\n  gen_ai_semconv: latest");
    await ask(CHAT);
    vendor.reset(() => new Response("a secret error text", { status: 500 }));
    await ask(CHAT);
    await gateway.stop();
    expect(collector.spans).toHaveLength(4);
    const sent = collector.bodies.join("\n");
    for (const secret of ["secret", "Hello there", gateway.key, "key_", "acct_", "sk-vendor"])
      expect(sent).not.toContain(secret);
  });

  test("has the GenAI attributes if they are configured", async () => {
    await start({}, "telemetry:\n  gen_ai_semconv: latest");
    await ask({ ...CHAT, stream: true });
    await gateway.stop();
    expect(only(CLIENT).attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "vendor",
      "gen_ai.request.model": "upstream-model",
      "gen_ai.request.stream": true,
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.usage.input_tokens": 3,
      "gen_ai.usage.output_tokens": 2,
    });
  });

  test("continues the trace of the caller, with its tracestate, and is not passed to the provider by default", async () => {
    await start();
    await ask(CHAT, { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01`, tracestate: "a=1,b=2" });
    await gateway.stop();
    expect(only(SERVER)).toMatchObject({ traceId: TRACE_ID, parentSpanId: PARENT_ID, traceState: "a=1,b=2" });
    expect(vendor.last().headers.get("traceparent")).toBeNull();
    expect(vendor.last().headers.get("tracestate")).toBeNull();
  });

  test("is passed to the providers of telemetry.propagate_to, below the span of the attempt", async () => {
    await start({}, "telemetry:\n  propagate_to: [vendor]");
    await ask(CHAT, { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01`, tracestate: "a=1" });
    await gateway.stop();
    const { headers } = vendor.last();
    expect(headers.get("traceparent")).toBe(`00-${TRACE_ID}-${only(CLIENT).spanId}-01`);
    expect(headers.get("tracestate")).toBe("a=1");
  });

  test("has the error of each attempt, and is in error if the gateway's answer is", async () => {
    await start();
    vendor.reset(() => new Response("broken", { status: 503 }));
    await ask(CHAT);
    await gateway.stop();
    expect(only(CLIENT)).toMatchObject({ status: { code: ERROR } });
    expect(only(CLIENT).attributes).toMatchObject({ "http.response.status_code": 503 });
    expect(only(SERVER)).toMatchObject({ status: { code: ERROR } });
    expect(only(SERVER).attributes).toMatchObject({ "gateway.outcome": "failed" });
  });

  test("of a rejected request has its error type, and is not in error", async () => {
    await start();
    await ask({ ...CHAT, model: "acme/none" });
    await gateway.stop();
    expect(only(SERVER)).toMatchObject({ status: {} });
    expect(only(SERVER).attributes).toMatchObject({
      "error.type": "invalid_model",
      "gateway.outcome": "rejected",
      "http.response.status_code": 400,
    });
  });
});

test("a reload changes the attributes of spans and who gets the headers of traces, for requests that begin after it", async () => {
  await start();
  const gate = Promise.withResolvers<void>();
  vendor.reset(async (request) => {
    await gate.promise;
    return answerHello(request);
  });
  const early = ask(CHAT);
  await waitFor(() => (vendor.requests.length > 0 ? true : null));
  settings = "telemetry: {gen_ai_semconv: latest, propagate_to: [vendor]}";
  const { data } = await callAdmin(gateway, gateway.adminKey, "POST", "/settings/reload", {});
  expect(data.changes).toMatchObject([
    { name: "telemetry.gen_ai_semconv", needs_restart: false },
    { name: "telemetry.propagate_to", needs_restart: false },
  ]);
  gate.resolve();
  await early;
  await ask(CHAT);
  await gateway.stop();
  const isGenAi = find(CLIENT).map(({ attributes }) => "gen_ai.request.model" in attributes);
  expect(isGenAi).toEqual([false, true]);
  expect(vendor.requests.map(({ headers }) => headers.has("traceparent"))).toEqual([false, true]);
});

describe("sampling", () => {
  const parent = (flags: string) => ({ traceparent: `00-${TRACE_ID}-${PARENT_ID}-${flags}` });

  test("follows the caller's decision", async () => {
    await start();
    await ask(CHAT, parent("00"));
    await ask(CHAT, parent("01"));
    await gateway.stop();
    expect(find(SERVER)).toHaveLength(1);
  });

  test("by a ratio keeps failed requests, and of the others the share", async () => {
    await start({ OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.000000001" });
    await ask(CHAT);
    vendor.reset(() => new Response("broken", { status: 500 }));
    await ask(CHAT);
    await ask(CHAT, parent("00"));
    await gateway.stop();
    expect(find(SERVER).map(({ attributes }) => attributes["gateway.outcome"])).toEqual(["failed"]);
  });

  test("of nothing exports nothing", async () => {
    await start({ OTEL_TRACES_SAMPLER: "always_off" });
    vendor.reset(() => new Response("broken", { status: 500 }));
    await ask(CHAT, parent("01"));
    await gateway.stop();
    expect(collector.spans).toEqual([]);
  });
});

describe("metrics over OTLP", () => {
  test("have the values and names of a scrape, with their units", async () => {
    await start({ OTEL_TRACES_EXPORTER: "none" }, "metrics:\n  enabled: false");
    await ask(CHAT);
    await gateway.stop();
    expect(collector.requests.map(({ path }) => path)).toEqual(["/v1/metrics"]);
    const byName = new Map(collector.metrics.map((metric) => [metric.name, metric]));
    const requests = byName.get("gateway_requests_total");
    expect(requests?.["sum"]).toMatchObject({ aggregationTemporality: 2, isMonotonic: true });
    expect(requests?.["sum"].dataPoints[0]).toMatchObject({
      asDouble: 1,
      attributes: [
        { key: "api", value: { stringValue: "chat.completions" } },
        { key: "model", value: { stringValue: "acme/model" } },
        { key: "provider", value: { stringValue: "vendor" } },
        { key: "outcome", value: { stringValue: "completed" } },
      ],
    });
    const duration = byName.get("gateway_request_duration_seconds");
    expect(duration).toMatchObject({ unit: "s" });
    const point = duration?.["histogram"].dataPoints[0];
    expect(point.count).toBe("1");
    expect(point.bucketCounts).toHaveLength(point.explicitBounds.length + 1);
    expect(byName.get("gateway_inflight")?.["gauge"].dataPoints[0].asDouble).toBe(0);
  });
});

describe("an export", () => {
  const dropped = async () =>
    (await scrape(gateway)).value("gateway_dropped_telemetry_total", { signal: "traces" });

  /** Makes as many spans as one batch has, so that it is sent at once. */
  async function fillBatch(): Promise<void> {
    for (let sent = 0; sent < 256; sent += 16) await Promise.all(Array.from({ length: 16 }, () => ask(CHAT)));
  }

  test("is sent with the configured headers, and compressed if that is configured", async () => {
    await start({
      OTEL_EXPORTER_OTLP_HEADERS: "x-a=common",
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: "api-key=abc%20d, x-b=2",
      OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
      OTEL_METRICS_EXPORTER: "none",
    });
    await ask(CHAT);
    await gateway.stop();
    const headers = collector.requests[0]?.headers;
    expect(headers?.get("api-key")).toBe("abc d");
    expect(headers?.get("x-b")).toBe("2");
    expect(headers?.get("x-a")).toBeNull();
    expect(headers?.get("content-encoding")).toBe("gzip");
    expect(headers?.get("content-type")).toBe("application/json");
  });

  test("of 512 spans is sent at once, and repeated when the collector says so", async () => {
    await start({ OTEL_METRICS_EXPORTER: "none" });
    collector.answers.push(new Response("later", { status: 503, headers: { "retry-after": "0" } }));
    await fillBatch();
    await waitFor(() => (collector.spans.length >= 512 ? true : null));
    expect(collector.bodies[1]).toBe(collector.bodies[0] as string);
    expect(await dropped()).toBe(0);
    await gateway.stop();
  });

  test("that the collector rejects is dropped, counted and logged", async () => {
    await start({ OTEL_METRICS_EXPORTER: "none" });
    collector.answers.push(new Response("no", { status: 400 }));
    await fillBatch();
    await waitFor(async () => ((await dropped()) === 512 ? true : null));
    const line = gateway.log.find(({ event }) => event === "traces were dropped");
    expect(line).toMatchObject({ level: "error" });
    expect(String(line?.fields["detail"])).toContain("status 400");
    await gateway.stop();
  });

  test("of which the collector rejects a part counts that part as dropped", async () => {
    await start({ OTEL_METRICS_EXPORTER: "none" });
    const partialSuccess = { rejectedSpans: "12", errorMessage: "too long" };
    collector.answers.push(Response.json({ partialSuccess }));
    await fillBatch();
    await waitFor(async () => ((await dropped()) === 12 ? true : null));
    expect(await dropped()).toBe(12);
    await gateway.stop();
  });
});

describe("without an endpoint", () => {
  test("nothing is exported, and log lines have no trace id", async () => {
    await start({ OTEL_EXPORTER_OTLP_ENDPOINT: "" });
    await ask(CHAT, { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` });
    expect(gateway.log.find(({ event }) => event === "request")?.fields).not.toHaveProperty("trace_id");
    await gateway.stop();
    expect(collector.requests).toEqual([]);
  });

  test("OTEL_SDK_DISABLED switches everything off", async () => {
    await start({ OTEL_SDK_DISABLED: "true" });
    await ask(CHAT);
    await gateway.stop();
    expect(collector.requests).toEqual([]);
  });

  test("a protocol that the gateway does not speak stops the start with an explanation", async () => {
    const starting = start({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" });
    expect(await starting.catch((error: Error) => error.message)).toContain(
      'OTEL_EXPORTER_OTLP_PROTOCOL is "grpc", but the gateway speaks http/json only',
    );
  });
});
