/**
 * Runs the suites that go through the front door of a gateway on PostgreSQL instead of SQLite: each gateway of a test gets a database
 * of its own on one server that this program starts. Run by `npm run test:postgres`; further arguments choose files or folders.
 */
import { join, relative } from "node:path";
import { Glob } from "bun";
import { startTestPostgres } from "../support/postgres.ts";

const ROOT = join(import.meta.dir, "../..");

/** The folders whose gateways run on PostgreSQL. */
const FOLDERS = [
  "accounts",
  "app",
  "cli",
  "clients",
  "durability",
  "generation",
  "http",
  "ledger",
  "limits",
  "provider-keys",
];

/** Files that are about SQLite or the files of a data directory, each with the reason. */
const EXCLUDED: Readonly<Record<string, string>> = {};

/** The gateways of one test process have up to 10 connections each, and several run at a time. */
const MAX_CONNECTIONS = 500;

function listFiles(): string[] {
  const files = [...new Glob(`test/{${FOLDERS.join(",")}}/**/*.test.ts`).scanSync(ROOT)];
  return files.filter((file) => EXCLUDED[relative("test", file)] === undefined).sort();
}

const server = await startTestPostgres({ max_connections: MAX_CONNECTIONS });
try {
  const chosen = process.argv.slice(2);
  const files = (chosen.length > 0 ? chosen : listFiles()).map((file) => `./${file}`);
  const options = ["--timeout", "20000", "--parallel=2", "--no-isolate"];
  const tests = Bun.spawn([process.execPath, "test", ...options, ...files], {
    cwd: ROOT,
    env: { ...process.env, GATEWAY_TEST_POSTGRES: await server.createMigratedDatabase() },
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
  });
  process.exitCode = await tests.exited;
} finally {
  await server.remove();
}
