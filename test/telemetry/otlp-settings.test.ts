import { describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatProblem } from "../../src/app/config/config-error.ts";
import { findConfigProblems } from "../../src/app/serving/find-config-problems.ts";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { readOtlpSettings } from "../../src/telemetry/otlp/otlp-settings.ts";
import { makeTempFolder } from "../support/temp-folder.ts";

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector.example:4318/base/" };

describe("`gateway config check`", () => {
  test("reports variables of OpenTelemetry and addresses that are not valid", async () => {
    const sources = { clock: systemClock, random: createSystemRandom() };
    const folder = makeTempFolder("gateway-config-");
    const file = join(folder, "gateway.yaml");
    writeFileSync(file, `data_dir: ${folder}\nmetrics:\n  allow: [everyone]\n`);
    const environment = { ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" };
    const { problems } = await findConfigProblems({ ...sources, environment }, file);
    rmSync(folder, { recursive: true });
    const texts = problems.map(formatProblem);
    expect(texts.some((text) => text.includes("OTEL_EXPORTER_OTLP_PROTOCOL is"))).toBe(true);
    expect(texts.some((text) => /gateway\.yaml:3:\d+: metrics\.allow .*"everyone"/.test(text))).toBe(true);
    expect(problems).toHaveLength(2);
  });
});

describe("the variables of OpenTelemetry", () => {
  test("export nothing unless they name an endpoint or the exporter otlp", () => {
    expect(readOtlpSettings({})).toMatchObject({ traces: null, metrics: null });
    const settings = readOtlpSettings({ OTEL_TRACES_EXPORTER: "otlp" });
    expect(settings.traces?.url).toBe("http://localhost:4318/v1/traces");
    expect(settings.metrics).toBeNull();
  });

  test("add a path to the common endpoint, and none to that of one signal", () => {
    const own = { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://metrics.example/push" };
    const settings = readOtlpSettings({ ...ENDPOINT, ...own });
    expect(settings.traces?.url).toBe("https://collector.example:4318/base/v1/traces");
    expect(settings.metrics?.url).toBe("http://metrics.example/push");
  });

  test("have defaults", () => {
    const { traces, metrics, resource } = readOtlpSettings(ENDPOINT);
    expect(traces).toMatchObject({ timeoutMs: 10_000, isGzipped: false, headers: {} });
    expect(traces?.sampler).toEqual({ ratio: 1, followsParent: true });
    expect(metrics?.intervalMs).toBe(60_000);
    expect(resource).toEqual({ "service.name": "gateway" });
  });

  test.each([
    ["always_on", "0.5", { ratio: 1, followsParent: false }],
    ["always_off", "0.5", { ratio: 0, followsParent: false }],
    ["traceidratio", "0.5", { ratio: 0.5, followsParent: false }],
    ["parentbased_always_off", "", { ratio: 0, followsParent: true }],
    ["parentbased_traceidratio", "", { ratio: 1, followsParent: true }],
  ])("choose the sampler %s with the argument '%s'", (name, argument, expected) => {
    const sampling = { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument };
    expect(readOtlpSettings({ ...ENDPOINT, ...sampling }).traces?.sampler).toEqual(expected);
  });

  test("have those of one signal before those of all", () => {
    const settings = readOtlpSettings({
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_TIMEOUT: "1000",
      OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: "2000",
      OTEL_EXPORTER_OTLP_COMPRESSION: "none",
      OTEL_EXPORTER_OTLP_METRICS_COMPRESSION: "gzip",
    });
    expect(settings.traces).toMatchObject({ timeoutMs: 2_000, isGzipped: false });
    expect(settings.metrics).toMatchObject({ timeoutMs: 1_000, isGzipped: true });
  });

  test("give OTEL_SERVICE_NAME precedence over the resource attributes", () => {
    const { resource } = readOtlpSettings({
      OTEL_RESOURCE_ATTRIBUTES: "service.name=a,team=b",
      OTEL_SERVICE_NAME: "c",
    });
    expect(resource).toEqual({ "service.name": "c", team: "b" });
  });

  test.each([
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, /OTEL_EXPORTER_OTLP_PROTOCOL is "grpc".*http\/json/],
    [{ OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/protobuf" }, /OTLP_TRACES_PROTOCOL is "http\/protobuf"/],
    [{ OTEL_EXPORTER_OTLP_COMPRESSION: "zstd" }, /COMPRESSION must be gzip or none/],
    [{ OTEL_EXPORTER_OTLP_TIMEOUT: "10s" }, /TIMEOUT must be a number of milliseconds/],
    [{ OTEL_EXPORTER_OTLP_HEADERS: "authorization" }, /HEADERS must have the form key=value/],
    [{ OTEL_EXPORTER_OTLP_HEADERS: "a=%zz" }, /HEADERS has a percent sign/],
    [{ OTEL_EXPORTER_OTLP_CERTIFICATE: "/ca.pem" }, /CERTIFICATE is not supported/],
    [{ OTEL_TRACES_SAMPLER: "jaeger_remote" }, /OTEL_TRACES_SAMPLER must be one of always_on/],
    [{ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "2" }, /from 0 to 1/],
    [{ OTEL_METRICS_EXPORTER: "prometheus" }, /OTEL_METRICS_EXPORTER must be otlp or none/],
    [
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "collector:4317" },
      /TRACES_ENDPOINT must be an http or https URL/,
    ],
  ])("are rejected with a remedy if they are not valid: %p", (variables, message) => {
    expect(() => readOtlpSettings({ ...ENDPOINT, ...variables })).toThrow(message);
  });
});
