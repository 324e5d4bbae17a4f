import { describe, expect, test } from "bun:test";
import { joinFamilies, printFamilies } from "../../src/telemetry/metrics/print-metrics.ts";
import { createMetricRegistry, MAX_SERIES } from "../../src/telemetry/metrics/registry.ts";
import { parseScrape } from "../support/servers/scrape.ts";

const COUNTER = {
  name: "a_total",
  kind: "counter",
  help: "About a",
  labels: ["model", "outcome"],
} as const;
const HISTOGRAM = {
  name: "b_seconds",
  kind: "histogram",
  help: "About b",
  labels: [],
  bounds: [0.1, 1],
} as const;

describe("a metric registry", () => {
  test("counts models beyond the bound of series as `other`, and keeps the values of closed labels", async () => {
    const registry = createMetricRegistry();
    const counter = registry.counter(COUNTER);
    for (let at = 0; at < 3 * MAX_SERIES; at++) counter.add(1, `model-${at}`, at % 2 === 0 ? "ok" : "failed");
    counter.add(5, "model-0", "ok");
    const [family] = await printFamilies(registry.families);
    const { series, value } = parseScrape(family?.samples ?? "");
    expect(series).toHaveLength(MAX_SERIES + 2);
    expect(value("a_total", { model: "model-0" })).toBe(6);
    expect(value("a_total", { model: "other", outcome: "ok" })).toBe(MAX_SERIES);
    expect(value("a_total", { model: "other", outcome: "failed" })).toBe(MAX_SERIES);
  });

  test("prints histograms with cumulative buckets, and values of labels escaped", async () => {
    const registry = createMetricRegistry();
    registry.counter(COUNTER).add(1, 'a"b\\c\nd', "ok");
    const histogram = registry.histogram(HISTOGRAM);
    for (const value of [0.1, 0.5, 7]) histogram.observe(value);
    expect(joinFamilies([await printFamilies(registry.families)])).toBe(
      `# HELP a_total About a.
# TYPE a_total counter
a_total{model="a\\"b\\\\c\\nd",outcome="ok"} 1
# HELP b_seconds About b.
# TYPE b_seconds histogram
b_seconds_bucket{le="0.1"} 1
b_seconds_bucket{le="1"} 2
b_seconds_bucket{le="+Inf"} 3
b_seconds_sum 7.6
b_seconds_count 3
`,
    );
  });

  test("prints each metric of several processes once, with the series of all", async () => {
    const processes = await Promise.all(
      ["1", "2"].map((process) => {
        const registry = createMetricRegistry();
        registry.counter(COUNTER).add(Number(process), "m", "ok");
        return printFamilies(registry.families, { process });
      }),
    );
    expect(joinFamilies(processes)).toBe(
      `# HELP a_total About a.
# TYPE a_total counter
a_total{process="1",model="m",outcome="ok"} 1
a_total{process="2",model="m",outcome="ok"} 2
`,
    );
  });

  test("prints many series in several turns of the event loop", async () => {
    const registry = createMetricRegistry();
    for (let metric = 0; metric < 5; metric++) {
      const counter = registry.counter({ ...COUNTER, name: `m${metric}_total` });
      for (let at = 0; at < MAX_SERIES; at++) counter.add(1, `model-${at}`, "ok");
    }
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await printFamilies(registry.families);
    isOver = true;
    expect(turns).toBeGreaterThanOrEqual(9);
  });

  test("reads observed values when it is printed", async () => {
    const registry = createMetricRegistry();
    let value = 1e9;
    registry.observe({ name: "c_usd", kind: "gauge", help: "About c", labels: [], divisor: 1e9 }, (report) =>
      report(value, []),
    );
    value = 2_500_000_000;
    expect((await printFamilies(registry.families))[0]?.samples).toBe("c_usd 2.5\n");
  });
});
