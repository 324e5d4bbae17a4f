/**
 * Runs the suites that go through the front door of a gateway on PostgreSQL and Redis instead of SQLite and memory: each gateway of a
 * test gets a database of its own on servers that this program starts; and the suites of the stores on PostgreSQL and Redis, and of
 * several gateways: `npm run suite -- postgres`. Arguments choose files or folders instead.
 */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { Glob } from "bun";
import { ON_SERVERS } from "../suites.ts";
import { startTestPostgres } from "../support/databases/postgres.ts";
import { startTestRedis } from "../support/databases/redis.ts";

const ROOT = join(import.meta.dir, "../..");

/** The folders whose gateways run on PostgreSQL. */
const FOLDERS = [
  "accounts",
  "app",
  "cli",
  "durability",
  "generation",
  "http",
  "ledger",
  "limits",
  "operations",
  "provider-keys",
  "response-objects",
];

/** Tests of the console in a browser that are about several gateways, too. */
const BROWSER_FILES = ["test/console/browser/company-day-browser.test.ts"];

/** Why files are excluded that would test the same on any database. */
const [BODIES, PROVIDERS, PROCESS] = [
  "is about the bytes of requests and answers",
  "is about connections to providers",
  "is about the process, not about what it stores",
];

/** Files that are about SQLite or the files of a data directory, or do not depend on the database, each with the reason. */
const EXCLUDED: Readonly<Record<string, string>> = {
  "app/addresses.test.ts": PROVIDERS,
  "app/providers.test.ts": PROVIDERS,
  "cli/config/import.test.ts": "writes a configuration, and no rows",
  "cli/config/proxies.test.ts": PROVIDERS,
  "cli/start/readers.test.ts": PROCESS,
  "cli/commands/terminal-characters.test.ts": PROCESS,
  "http/server/addresses.test.ts": BODIES,
  "http/answers/compressed-answers.test.ts": BODIES,
  "http/requests/members-twice.test.ts": BODIES,
  "http/requests/reasoning-parameters.test.ts": BODIES,
  "http/requests/request-size.test.ts": BODIES,
  "limits/slow-arrivals.test.ts": BODIES,
  "app/storage-copy.test.ts": "copies from SQLite to PostgreSQL, on a server of its own",
  "app/catalog-away.test.ts": "makes the file of the imported catalog unreadable",
  "cli/start/backup.test.ts": "is about copies of SQLite",
  "cli/resources/gateways.test.ts": "says what the command prints with each database",
  "cli/start/migrate.test.ts": "starts its own servers, and tests both databases",
  "cli/config/provider-keys.test.ts":
    "generates master keys in the data directory, and re-encrypts with them",
  "cli/config/secrets.test.ts": "is about the file of generated master keys",
  "durability/announced-changes.test.ts":
    "reads and damages the tables of SQLite; test/storage/postgres has the same cases",
  "durability/backup.test.ts": "is about copies of SQLite",
  "durability/data-directory.test.ts": "is about the files of a data directory and their modes",
  "durability/database-away.test.ts": "starts a server of its own, which goes away",
  "durability/full-disk.test.ts": "fills the disk under SQLite",
  "durability/interrupted.test.ts": "copies the data directory of a running gateway, with its database",
  "durability/locked-database.test.ts": "holds the lock of SQLite",
  "durability/quarantine.test.ts":
    "makes the tables of SQLite reject records; test/storage/postgres has the same cases",
  "durability/rejected-writes.test.ts": "lets the tables of SQLite reject changes",
  "durability/store-away.test.ts":
    "makes the tables of SQLite reject writes; test/faults has the faults of PostgreSQL",
  "response-objects/backup.test.ts": "is about copies of SQLite",
  "provider-keys/rotation.test.ts": "generates master keys in the data directory, and re-encrypts with them",
};

/** The gateways of one test process have up to 10 connections each, and several run at a time. */
const MAX_CONNECTIONS = 500;

function listFiles(): string[] {
  for (const file of Object.keys(EXCLUDED))
    if (!existsSync(join(ROOT, "test", file))) throw new Error(`${file}, which is excluded, does not exist`);
  const files = [...FOLDERS, ...ON_SERVERS].flatMap((folder) => [
    ...new Glob(`test/${folder}/**/*.test.ts`).scanSync(ROOT),
  ]);
  const included = files.filter((file) => EXCLUDED[relative("test", file)] === undefined);
  return [...included, ...BROWSER_FILES].sort();
}

const server = await startTestPostgres({ max_connections: MAX_CONNECTIONS });
const redis = await startTestRedis();
try {
  const chosen = process.argv.slice(2);
  const files = (chosen.length > 0 ? chosen : listFiles()).map((file) => `./${file}`);
  const options = ["--timeout", "120000", "--parallel=2", "--no-isolate"];
  const tests = Bun.spawn([process.execPath, "test", ...options, ...files], {
    cwd: ROOT,
    env: {
      ...process.env,
      GATEWAY_TEST_POSTGRES: await server.createMigratedDatabase(),
      GATEWAY_TEST_REDIS: redis.url,
      GATEWAY_TEST_BROWSER: "true",
    },
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
  });
  process.exitCode = await tests.exited;
} finally {
  await redis.remove();
  await server.remove();
}
