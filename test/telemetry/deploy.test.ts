import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { METRICS_FILE, renderMetricsDocument } from "../../scripts/generate/metrics-table.ts";
import { METRICS } from "../../src/core/telemetry/metric-declarations.ts";
import { postChat, startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { readDashboard } from "../support/servers/grafana-board.ts";
import { type Scrape, scrape } from "../support/servers/scrape.ts";

const root = join(import.meta.dir, "..", "..");
const RULES_FILE = join(root, "deploy", "prometheus", "alerts.yaml");
const RULE_TEST_FILES = ["alerts.test.yaml", "alerts.day.test.yaml"].map((name) =>
  join(root, "deploy", "prometheus", name),
);
/** Set by `npm run suite -- telemetry`. */
const IS_WANTED = process.env["GATEWAY_TEST_TELEMETRY"] === "true";
const PROMTOOL = Bun.which("promtool");
if (PROMTOOL === null) console.log("promtool is missing: rules and metrics are not checked with it");

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

const rules: readonly Rule[] = parse(readFileSync(RULES_FILE, "utf8")).groups.flatMap(
  ({ rules }: { rules: Rule[] }) => rules,
);

/** Returns the metrics that an expression names. Those of Prometheus itself have other prefixes. */
function namesIn(expression: string): readonly string[] {
  return expression.match(/\b(?:gateway|process)_\w+/g) ?? [];
}

async function promtool(args: readonly string[], input = ""): Promise<{ code: number; output: string }> {
  const child = Bun.spawn([PROMTOOL as string, ...args], {
    stdin: Buffer.from(input),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, output: stdout + stderr };
}

describe("docs/metrics.md", () => {
  test("has the table that `npm run generate` writes", () => {
    const document = readFileSync(METRICS_FILE, "utf8");
    expect(document).toBe(renderMetricsDocument(document));
  });
});

describe("the files in deploy", () => {
  let gateway: TestGateway;
  let metrics: Scrape;
  let known: ReadonlySet<string>;
  beforeAll(async () => {
    gateway = await startTestGateway({ yaml: "sandbox: on" });
    const answer = await postChat(gateway, {
      model: "sandbox/echo",
      messages: [{ role: "user", content: "Hello!" }],
      stream: true,
    });
    await answer.text();
    metrics = await scrape(gateway);
    const suffixes = ["", "_bucket", "_sum", "_count"];
    known = new Set(metrics.names.flatMap((name) => suffixes.map((suffix) => name + suffix)));
  });
  afterAll(() => gateway.stop());

  test("belong to a gateway that declares every metric of the documentation, in each scrape", () => {
    const declared = Object.values(METRICS).map(({ name }) => name);
    expect([...metrics.names].sort()).toEqual(declared.sort());
  });

  test("have alert rules that name only metrics that exist", () => {
    expect(rules.length).toBeGreaterThan(10);
    for (const { alert, expr } of rules) {
      const names = alert === "GatewayDown" ? ["gateway_build_info"] : namesIn(expr);
      expect([alert, names.length > 0]).toEqual([alert, true]);
      expect([alert, names.filter((name) => !known.has(name))]).toEqual([alert, []]);
    }
  });

  test("have a board whose panels name only metrics that exist", () => {
    const { expressions, titles } = readDashboard();
    expect(expressions.length).toBeGreaterThan(30);
    for (const expression of expressions) {
      expect([expression, namesIn(expression).length > 0]).toEqual([expression, true]);
      expect([expression, namesIn(expression).filter((name) => !known.has(name))]).toEqual([expression, []]);
    }
    expect(new Set(titles).size).toBe(titles.length);
  });

  test("show or watch every metric, so that none is exposed for nothing", () => {
    const used = new Set([...readDashboard().expressions, ...rules.map(({ expr }) => expr)].flatMap(namesIn));
    const unused = metrics.names.filter(
      (name) => !["", "_bucket", "_count"].some((suffix) => used.has(name + suffix)),
    );
    expect(unused).toEqual([]);
  });

  test("have a section of docs/metrics.md for each alert", () => {
    const document = readFileSync(join(root, "docs", "metrics.md"), "utf8");
    const anchors = [...document.matchAll(/^#+ (\w+)$/gm)].map(([, title]) => title?.toLowerCase());
    for (const { alert, annotations } of rules) {
      expect(annotations.runbook).toBe(`docs/metrics.md#${alert.toLowerCase()}`);
      expect(anchors).toContain(alert.toLowerCase());
    }
  });

  test("have a case in which each alert fires, and one in which it does not", () => {
    const cases: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[] =
      RULE_TEST_FILES.flatMap((file) => parse(readFileSync(file, "utf8")).tests);
    const tested = cases.flatMap(({ alert_rule_test }) => alert_rule_test);
    for (const { alert } of rules) {
      const outcomes = tested.filter(({ alertname }) => alertname === alert);
      expect([alert, outcomes.some(({ exp_alerts }) => exp_alerts.length > 0)]).toEqual([alert, true]);
      expect([alert, outcomes.some(({ exp_alerts }) => exp_alerts.length === 0)]).toEqual([alert, true]);
    }
  });

  test.skipIf(PROMTOOL === null)("have rules that promtool accepts", async () => {
    expect(await promtool(["check", "rules", RULES_FILE])).toMatchObject({ code: 0 });
  });

  // It takes seconds.
  test.skipIf(PROMTOOL === null || !IS_WANTED)("have rules whose tests pass", async () => {
    const tested = await promtool(["test", "rules", ...RULE_TEST_FILES]);
    expect(tested.output).toContain("SUCCESS");
    expect(tested.code).toBe(0);
  });

  test.skipIf(PROMTOOL === null)("belong to metrics in which promtool finds no fault", async () => {
    expect(await promtool(["check", "metrics"], metrics.text)).toEqual({ code: 0, output: "" });
  });
});
