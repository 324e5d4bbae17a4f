import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { disturbanceBetween, isTolerable, readMachineTicks } from "../../bench/machine/host-watch.ts";
import { drawChart } from "../../bench/peers/chart.ts";
import { readLabPlan } from "../../bench/peers/plan.ts";
import { BEGIN, END, publish } from "../../bench/peers/publish.ts";
import { PartLog, type PartResult, summarize, summarizeAdded } from "../../bench/peers/results.ts";
import { renderTables } from "../../bench/peers/tables.ts";
import { RUNS_SLOW_TESTS } from "../support/long-run.ts";
import { makeTempFolder } from "../support/temp-folder.ts";

const ORIGIN = { measuredAt: "2026-03-01T10:00:00.000Z", commit: "abc1234", machine: "a machine" };
const CALM = { steal: 0, others: 0 };

/** A part whose rounds have the given values of one figure, by variant. */
function partOf(figure: string, rounds: readonly Readonly<Record<string, number>>[]): PartResult {
  const log = new PartLog();
  for (const round of rounds)
    log.keep(
      Object.entries(round).map(([subject, value]) => ({ figure, subject, value })),
      CALM,
    );
  return log.finish(ORIGIN);
}

describe("The disturbance of a round", () => {
  test("is the stolen share of all ticks and the cores that others kept busy", () => {
    const before = readMachineTicks("cpu  100 0 50 800 0 0 0 10 0 0\ncpu0 50 0 25 400 0 0 0 5 0 0\n");
    const after = readMachineTicks("cpu  180 0 70 890 0 0 0 20 0 0\ncpu0 90 0 35 445 0 0 0 10 0 0\n");
    expect(before).toEqual({ busy: 150, steal: 10, total: 960 });
    const cores = navigator.hardwareConcurrency;
    const { steal, others } = disturbanceBetween(before, after, 0.25 * cores);
    expect(steal).toBeCloseTo(10 / 200, 6);
    expect(others).toBeCloseTo(0.25 * cores, 6);
  });

  test("does not fall below zero if the bench used more than the ticks say", () => {
    const before = { busy: 0, steal: 0, total: 0 };
    expect(disturbanceBetween(before, { busy: 10, steal: 0, total: 1_000 }, 8).others).toBe(0);
  });

  test("is tolerable up to the bound of each kind, and always without bounds", () => {
    const tolerance = { steal: 0.03, others: 0.3 };
    expect(isTolerable({ steal: 0.03, others: 0.3 }, tolerance)).toBe(true);
    expect(isTolerable({ steal: 0.031, others: 0 }, tolerance)).toBe(false);
    expect(isTolerable({ steal: 0, others: 0.31 }, tolerance)).toBe(false);
    expect(isTolerable({ steal: 1, others: 9 }, null)).toBe(true);
  });
});

describe("The results of a part", () => {
  test("are the median, the lowest and the highest of the kept rounds", () => {
    const part = partOf("small.16.cpu", [{ nginx: 30 }, { nginx: 10 }, { nginx: 20 }]);
    expect(summarize(part, "small.16.cpu", "nginx")).toEqual({ median: 20, lowest: 10, highest: 30 });
    expect(summarize(part, "small.16.cpu", "gateway")).toBeNull();
  });

  test("subtract the figure of the same round, and nothing if a round is missing", () => {
    const part = partOf("latency.p50", [
      { direct: 100, gateway: 300 },
      { direct: 200, gateway: 350 },
      { direct: 110, gateway: 400 },
    ]);
    const pair = { subject: "gateway", base: "direct" };
    expect(summarizeAdded(part, "latency.p50", pair)).toEqual({ median: 200, lowest: 150, highest: 290 });
    const cut = partOf("latency.p50", [{ direct: 100, gateway: 300 }, { direct: 200 }]);
    expect(summarizeAdded(cut, "latency.p50", pair)).toBeNull();
  });

  test("have no figure of a variant that failed, also of earlier rounds, and keep its other cells", () => {
    const log = new PartLog();
    const reading = (figure: string) => ({ figure, subject: "litellm", value: 1 });
    log.keep([reading("small.16.cpu"), reading("stream.16.cpu")], CALM);
    log.fail("litellm", "stream without its last event", "stream.16");
    log.keep([reading("stream.16.cpu")], CALM);
    const part = log.finish(ORIGIN);
    expect(part.figures.map(({ figure }) => figure)).toEqual(["small.16.cpu"]);
    expect(part.absent).toEqual([
      { subject: "litellm", cell: "stream.16", reason: "stream without its last event" },
    ]);
  });

  test("state the worst disturbance of the kept rounds and how many were thrown away", () => {
    const log = new PartLog();
    log.keep([], { steal: 0.01, others: 0.2 });
    log.keep([], { steal: 0.02, others: 0.1 });
    log.discard();
    const { rounds, disturbance } = log.finish(ORIGIN);
    expect(rounds).toEqual({ kept: 2, discarded: 1 });
    expect(disturbance).toEqual({ steal: 0.02, others: 0.2 });
  });
});

describe("The tables", () => {
  const labels = { nginx: "nginx, reverse proxy", gateway: "this gateway", litellm: "LiteLLM" };

  test("mark a rate as a lower bound where the variant left its core idle", () => {
    const log = new PartLog();
    for (const [subject, rate, busy] of [
      ["nginx", 20_000, 0.4],
      ["gateway", 3_000, 0.98],
    ] as const)
      log.keep(
        [
          { figure: "small.16.rps", subject, value: rate },
          { figure: "small.16.busy", subject, value: busy },
        ],
        CALM,
      );
    const text = renderTables({ labels, tools: "", parts: { loops: log.finish(ORIGIN) } });
    expect(text).toContain("| nginx, reverse proxy | ≥ 20,000 |");
    expect(text).toContain("| this gateway | 3,000 |");
  });

  test("say what is missing and why, and who was warmed up with less", () => {
    const log = new PartLog();
    log.fail("litellm", "there is no python3; install it");
    log.note("nginx did not answer 3: status 429");
    log.add({ figure: "small.16.warm", subject: "nginx", value: 30_000 });
    log.add({ figure: "small.16.warm", subject: "gateway", value: 12_345 });
    const text = renderTables({ labels, tools: "", parts: { loops: log.finish(ORIGIN) } });
    expect(text).toContain("Not measured: LiteLLM, there is no python3; install it.");
    expect(text).toContain(" nginx did not answer 3: status 429.");
    expect(text).toContain("Warmed up with 30,000 requests, except this gateway 12,345,");
  });
});

describe("A chart", () => {
  test("places a larger figure farther to the right and escapes labels", () => {
    const row = (label: string, median: number) => ({
      label,
      summary: { median, lowest: median / 2, highest: median * 2 },
      isOurs: false,
    });
    const svg = drawChart("Time of <a request>", [row("a & b", 40), row("c", 4_000)]);
    const places = [...svg.matchAll(/<circle cx="([\d.]+)"/g)].map(([, x]) => Number(x));
    expect(places[0]).toBeLessThan(places[1] ?? 0);
    expect(svg).toContain("a &amp; b");
    expect(svg).toContain("Time of &lt;a request&gt;");
  });
});

describe("Publishing", () => {
  const labels = { direct: "no gateway", gateway: "this gateway" };
  const marked = (text: string) => `# ${text}\n\n${BEGIN}\nold\n${END}\n\nThe end of ${text}.\n`;

  async function makeRoot(page: string): Promise<string> {
    const root = makeTempFolder("bench-peers-");
    await Bun.write(join(root, "docs", "performance.md"), page);
    await Bun.write(join(root, "README.md"), marked("the README"));
    return root;
  }

  test("replaces the measured parts and keeps the others and the text around them", async () => {
    const root = await makeRoot(marked("the page"));
    const loops = partOf("small.16.cpu", [{ gateway: 250 }]);
    await publish(
      { labels, tools: "cc 1", parts: { loops, start: partOf("start.ms", [{ gateway: 111 }]) } },
      root,
    );
    await publish({ labels, tools: "cc 2", parts: { start: partOf("start.ms", [{ gateway: 222 }]) } }, root);
    const page = await Bun.file(join(root, "docs", "performance.md")).text();
    expect(page).toStartWith(
      `# the page\n\n${BEGIN}\n![Processor time of a small request, µs](performance/small.svg)`,
    );
    expect(page).toEndWith(`Tools: cc 2.\n${END}\n\nThe end of the page.\n`);
    expect(page).toContain("| this gateway | 222 |");
    expect(page).not.toContain("111");
    expect(await Bun.file(join(root, "README.md")).text()).toContain("| this gateway | 250 | – | – | 222 |");
    expect(readdirSync(join(root, "docs", "performance")).sort()).toEqual([
      "results.json",
      "small.svg",
      "start.svg",
    ]);
    rmSync(root, { recursive: true });
  });

  test("does not replace results by those of a part whose rounds were all thrown away", async () => {
    const root = await makeRoot(marked("the page"));
    await publish({ labels, tools: "", parts: { start: partOf("start.ms", [{ gateway: 111 }]) } }, root);
    const log = new PartLog();
    log.discard();
    const disturbed = { labels, tools: "", parts: { start: log.finish(ORIGIN) } };
    await publish(disturbed, root);
    expect(await Bun.file(join(root, "docs", "performance.md")).text()).toContain("| this gateway | 111 |");
    expect(renderTables(disturbed)).toContain("Nothing was measured.");
    expect(renderTables(disturbed)).toContain("thrown away: 1. The machine was too busy with other work.");
    rmSync(root, { recursive: true });
  });

  test("writes nothing if a document has no place for the results", async () => {
    const root = await makeRoot("# A page without marks\n");
    const results = { labels, tools: "", parts: { start: partOf("start.ms", [{ gateway: 1 }]) } };
    await expect(publish(results, root)).rejects.toThrow("performance.md has no lines");
    expect(existsSync(join(root, "docs", "performance"))).toBe(false);
    rmSync(root, { recursive: true });
  });
});

describe("The command line", () => {
  test("rejects unknown parts and variants, and a quick run that would be published", () => {
    const names = ["direct", "nginx"];
    expect(() => readLabPlan(["--only=speed"], names)).toThrow('--only: "speed" is none of loops,');
    expect(() => readLabPlan(["--targets=kong"], names)).toThrow('"kong" is none of direct, nginx');
    expect(() => readLabPlan(["--quick", "--publish"], names)).toThrow("--publish");
  });

  test("keeps the order of the tables whatever the order of the names is", () => {
    expect(readLabPlan(["--targets=nginx,direct"], ["direct", "nginx"])?.targets).toEqual([
      "direct",
      "nginx",
    ]);
  });
});

describe.if(process.platform === "linux" && RUNS_SLOW_TESTS)("A quick run", () => {
  test("measures the relay of this runtime next to no gateway and ends with 0", async () => {
    const script = join(import.meta.dir, "..", "..", "bench", "run.ts");
    const command = [
      process.execPath,
      script,
      "peers",
      "--quick",
      "--targets=direct,bun-relay",
      "--only=latency,start",
    ];
    const run = Bun.spawn(command, { stdout: "pipe", stderr: "pipe" });
    const [text, words, code] = await Promise.all([
      new Response(run.stdout).text(),
      new Response(run.stderr).text(),
      run.exited,
    ]);
    expect({ code, words: code === 0 ? "" : words }).toEqual({ code: 0, words: "" });
    expect(text).toMatch(/\| no gateway \| [\d,]+ \| [\d,]+ \| – \| – \|/);
    expect(text).toMatch(/\| bare relay on Bun \| [\d,]+ \| [\d,]+ \| -?[\d,]+ \| -?[\d,]+ \|/);
  });
});
