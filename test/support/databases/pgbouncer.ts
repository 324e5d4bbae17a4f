import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { findFreePort } from "../servers/free-port.ts";
import { findTempRoot } from "../temp-root.ts";
import { asServerUser } from "./postgres.ts";

const HOW_TO_INSTALL = "PgBouncer is not installed (Debian: apt-get install pgbouncer)";
/** Debian installs it where only root looks for programs. */
const DEBIAN = "/usr/sbin/pgbouncer";
const START_MS = 60_000;
const POLL_MS = 20;
/** Few, so that the transactions of one client run on changing connections. */
const SERVER_CONNECTIONS = 2;

/** The path of the program; null if it is not installed. */
export const PGBOUNCER = Bun.which("pgbouncer") ?? (existsSync(DEBIAN) ? DEBIAN : null);

if (PGBOUNCER === null) {
  if (process.env["CI"] === "true") throw new Error(HOW_TO_INSTALL);
  console.warn(`skipped: tests with PgBouncer. ${HOW_TO_INSTALL}`);
}

/** A PgBouncer in transaction mode. */
export interface TestPgBouncer {
  /** The URL of the database through PgBouncer. */
  readonly url: string;
  remove(): Promise<void>;
}

/** Starts a PgBouncer in transaction mode in front of a database of a test. */
export async function startTestPgBouncer(databaseUrl: string): Promise<TestPgBouncer> {
  if (PGBOUNCER === null) throw new Error(HOW_TO_INSTALL);
  const dir = mkdtempSync(join(findTempRoot(), "gateway-pgbouncer-"));
  // Read by the user of the server.
  chmodSync(dir, 0o755);
  const port = await findFreePort();
  const file = join(dir, "pgbouncer.ini");
  writeFileSync(file, configure(new URL(databaseUrl), port));
  const child = Bun.spawn(asServerUser([PGBOUNCER, file]), {
    stdout: "ignore",
    stderr: Bun.file(join(dir, "log")),
  });
  const url = new URL(databaseUrl);
  url.port = String(port);
  await ready(url.href, () => readFileSync(join(dir, "log"), "utf8"));
  return {
    url: url.href,
    async remove() {
      child.kill("SIGKILL");
      await child.exited;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function configure({ hostname, port, username }: URL, listenPort: number): string {
  return `[databases]
* = host=${hostname} port=${port} user=${username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${SERVER_CONNECTIONS}
max_client_conn = 200
`;
}

async function ready(url: string, readLog: () => string): Promise<void> {
  const until = Date.now() + START_MS;
  for (;;) {
    const sql = new SQL({ url, max: 1, prepare: false });
    try {
      await sql.unsafe("SELECT 1");
      return;
    } catch (error) {
      if (Date.now() > until) throw new Error(`PgBouncer did not start: ${readLog()}`, { cause: error });
      await Bun.sleep(POLL_MS);
    } finally {
      await sql.close({ timeout: 0 });
    }
  }
}
