import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { replaceBlock } from "../scripts/generate/replace-block.ts";

const ROOT = join(import.meta.dir, "..");

/** What all kinds of suites say about themselves. */
interface Described {
  /** What it runs, as a sentence without its subject. */
  readonly what: string;
  /** The longest time on two cores. Minutes; null if its options decide. */
  readonly minutes: number | null;
  /** The variable that turns its tests on. Other runs skip them. */
  readonly variable?: string;
}

/** Test files that the test runner runs. */
interface TestSuite extends Described {
  /** Files and folders, relative to the project. */
  readonly files: () => readonly string[];
  /** Files that are below its folders and are not its own, as patterns. */
  readonly without?: readonly string[];
  /** Runs two files at a time. */
  readonly isParallel?: true;
  /** The longest time of one test. Seconds; without it, 60. */
  readonly testSeconds?: number;
}

/** A program that counts what it has verified. It gets the arguments. */
interface ProgramSuite extends Described {
  /** Loads the program, which runs while it is loaded. */
  readonly run: () => Promise<unknown>;
}

export type Suite = TestSuite | ProgramSuite;

/** Folders whose tests start servers. Only the suite `postgres` runs them. */
export const ON_SERVERS: readonly string[] = ["gateways", "storage/postgres", "storage/redis"];

/** The suite of `npm test`. */
export const MAIN_SUITE: TestSuite = {
  what: "every kind of test on SQLite, with a fixed share of the long matrices",
  minutes: 3,
  files: () => ["test"],
  without: ON_SERVERS.map((folder) => `test/${folder}/**`),
  isParallel: true,
  testSeconds: 120,
};

/** The suites of `npm run suite -- NAME`. */
export const SUITES: Readonly<Record<string, Suite>> = {
  long: {
    what: "the test files that use `test/support/long-run.ts`, completely: all faults, generated bodies and schemas, more seeds and kills, and tests that start several processes",
    minutes: 3,
    variable: "GATEWAY_TEST_LONG",
    files: listLongTests,
    isParallel: true,
    testSeconds: 120,
  },
  postgres: {
    what: "tests of the API on PostgreSQL and Redis, of the stores on these servers, and of several gateways",
    minutes: 7,
    run: () => import("./on-postgres/run.ts"),
  },
  console: {
    what: "the console in a browser",
    minutes: 11,
    variable: "GATEWAY_TEST_BROWSER",
    files: () => ["test/console"],
  },
  agents: {
    what: "real command-line agents at simulated vendors",
    minutes: 10,
    run: () => import("./agents/run.ts"),
  },
  libraries: {
    what: "the newest client libraries of OpenAI, Anthropic and OpenRouter in JavaScript, Python, Go, Java and Rust parse a gateway's answers, and OpenAI's Agents SDKs continue responses that it keeps",
    minutes: 20,
    run: () => import("./libraries/run.ts"),
  },
  chaos: {
    what: "kills the gateway 210 times under load, and compares its ledger with the vendor's bill. With `--hostile`, 60 kills while half of the vendors' answers misreport usage, break off or never end",
    minutes: 6,
    run: () => import("./chaos/run.ts"),
  },
  cluster: {
    what: "three gateways under load while gateways are killed, stores fail and versions change; compares their ledger with the vendor's bill",
    minutes: 5,
    run: () => import("./cluster/run.ts"),
  },
  growth: {
    what: "the console's calls on a SQLite database of 5 million generations and a million keys, which it fills first (15 GB); prints how long each call keeps the event loop busy",
    minutes: 10,
    run: () => import("./growth/run.ts"),
  },
  hostile: {
    what: "attacks by clients and broken vendors; prints stall, memory and status for each",
    minutes: 4,
    run: () => import("./hostile/run.ts"),
  },
  outage: {
    what: "one long outage of PostgreSQL under load; prints its effect on clients, memory and journal",
    minutes: null,
    run: () => import("./faults/long-outage.ts"),
  },
  upgrades: {
    what: "upgrades installations of every earlier version (from git) to this one and back, with everything that their API stores, on SQLite and PostgreSQL, and with gateways of both versions under load",
    minutes: 6,
    run: () => import("./upgrades/run.ts"),
  },
  deploy: {
    what: "all ways to install: single executable, npm package, image, Helm chart, systemd unit",
    minutes: 4,
    variable: "GATEWAY_TEST_DEPLOY",
    files: () => ["test/deploy"],
    without: ["test/deploy/release.test.ts"],
    testSeconds: 120,
  },
  release: {
    what: "releases a made-up version in a copy of the repository, and runs its artefacts in empty folders",
    minutes: 5,
    variable: "GATEWAY_TEST_DEPLOY",
    files: () => ["test/deploy/release.test.ts"],
    testSeconds: 600,
  },
  docs: {
    what: "the commands of the manual (`docs/operations`, `docs/providers`, `docs/migrate-from`), and the output that it shows",
    minutes: 3,
    variable: "GATEWAY_TEST_DOCS",
    files: () => ["test/docs/commands.test.ts"],
    testSeconds: 300,
  },
  caching: {
    what: "what cache marks save and cost, by kind of conversation, with a simulated cache",
    minutes: 1,
    run: () => import("./caching/run.ts"),
  },
  profiles: {
    what: "every pair of parameters of the three client APIs, sent to simulated hosts that reject parameters that their vendors' documents do not name. Also deletes each entry of a profile once, and expects a failure",
    minutes: 5,
    run: () => import("./profiles/strict/run.ts"),
  },
  replay: {
    what: "recorded answers and exchanges, from each client API to each format; prints what was lost",
    minutes: 5,
    run: () => import("./replay/run.ts"),
  },
  telemetry: {
    what: "alert rules with `promtool`, the board and the rules with a Prometheus server, and OTLP exports with OpenTelemetry's own message types and with a collector. Skips what is not installed",
    minutes: 1,
    variable: "GATEWAY_TEST_TELEMETRY",
    files: () => ["test/telemetry/deploy.test.ts", "test/telemetry/real-tools.test.ts"],
  },
  mutants: {
    what: "makes 300 small changes to the code that decides about money, access, privacy and translation, and prints the changes that no related test detects. Run it before a release",
    minutes: 90,
    run: () => import("./mutants/run.ts"),
  },
  simulation: {
    what: "more seeds of the simulation of the whole service (`npm test` runs ten, the suite `long` two hundred)",
    minutes: null,
    run: () => import("./simulation/run.ts"),
  },
  leases: {
    what: "more seeds of the simulation of several gateways that lease money",
    minutes: null,
    run: () => import("./simulation/leases/run.ts"),
  },
  routing: {
    what: "days of traffic to twenty simulated vendors (`npm test` runs half an hour)",
    minutes: 3,
    run: () => import("./traffic/run.ts"),
  },
  screens: {
    what: "prints how long each screen of the console takes to show its data, and how many requests it sends, for a company of 200 people, 600 keys and 30 teams",
    minutes: 3,
    variable: "GATEWAY_TEST_BROWSER",
    run: () => import("./console/screens/run.ts"),
  },
  pictures: {
    what: "takes the pictures of `docs/console`. A further argument selects those whose names contain it",
    minutes: 2,
    variable: "GATEWAY_TEST_BROWSER",
    run: () => import("./console/pictures/run.ts"),
  },
};

/** The import by which a test file says that it runs more, or at all, in a long run. */
const LONG_RUN = /from "[./\w-]+\/long-run\.ts"/;

/** Lists the test files that run more, or at all, in a long run. */
function listLongTests(): readonly string[] {
  const files = [...new Glob("test/**/*.test.ts").scanSync(ROOT)].sort();
  return files.filter((file) => LONG_RUN.test(readFileSync(join(ROOT, file), "utf8")));
}

/** Returns test/README.md with the table of the suites. */
export function renderSuites(document: string): string {
  const rows = Object.entries(SUITES).map(([name, { what, minutes }]) => {
    return `| \`${name}\` | ${what} | ${minutes === null ? "as chosen" : `${minutes} min`} |`;
  });
  const head = ["| Suite | What it runs | Takes at most |", "|---|---|---|"];
  return replaceBlock(document, "suites", [...head, ...rows].join("\n"));
}
