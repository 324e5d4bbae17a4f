/**
 * Runs the gateway from its sources, and restarts it when a source or the catalog changes: `npm run dev`. The sandbox is on, so that no
 * account with a provider is needed. Data is kept in `dist/dev`, apart from that of `npm start`. Variables that are set already count, and
 * arguments are for Bun, such as `npm run dev -- --inspect`.
 */
import { randomBytes } from "node:crypto";
import { type FSWatcher, mkdirSync, watch } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..");
const WATCHED = ["src", "catalog"];
/** An editor or a checkout writes several files at once. Milliseconds. */
const QUIET_MS = 150;
/** How long open requests may take before the restart cuts them off. Milliseconds. */
const DRAIN_MS = 2_000;

/** Known to everyone who reads this, so it is only for a gateway that no other machine reaches. */
const KNOWN_KEY = "management-key-for-development";

const { GATEWAY_HOST: host = "127.0.0.1" } = process.env;
const settings = {
  GATEWAY_SANDBOX: "on",
  GATEWAY_DATA_DIR: join(ROOT, "dist/dev"),
  // Not that of a configuration file.
  GATEWAY_HOST: host,
  GATEWAY_PORT: "8080",
  GATEWAY_ADMIN_KEY: host === "127.0.0.1" ? KNOWN_KEY : randomBytes(24).toString("hex"),
  // Set here, so that the gateway does not execute itself again, which would end the connection of a debugger.
  MIMALLOC_PURGE_DELAY: "10000",
  ...process.env,
};
mkdirSync(settings.GATEWAY_DATA_DIR, { recursive: true, mode: 0o700 });

let child: Bun.Subprocess | null = null;
let isEnding = false;

function start(): void {
  const started = Bun.spawn(
    [process.execPath, ...process.argv.slice(2), join(ROOT, "src/main.ts"), "start"],
    {
      cwd: ROOT,
      env: settings,
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  child = started;
  void started.exited.then((code) => {
    if (child !== started) return;
    child = null;
    if (!isEnding)
      console.log(`\nThe gateway ended with status ${code}. It starts again when a file changes.`);
  });
}

/** Ends the gateway that runs, if one does. */
async function stop(): Promise<void> {
  const ending = child;
  if (ending === null) return;
  child = null;
  ending.kill("SIGTERM");
  const timer = setTimeout(() => ending.kill("SIGKILL"), DRAIN_MS);
  await ending.exited;
  clearTimeout(timer);
}

let restarting = Promise.resolve();
let quiet: Timer | undefined;

function restartSoon(file: string | null): void {
  clearTimeout(quiet);
  quiet = setTimeout(() => {
    console.log(`\n${file ?? "A file"} has changed: the gateway restarts.`);
    restarting = restarting.then(stop).then(() => {
      if (!isEnding) start();
    });
  }, QUIET_MS);
}

const watchers: readonly FSWatcher[] = WATCHED.map((folder) =>
  watch(join(ROOT, folder), { recursive: true }, (_event, name) => restartSoon(name && join(folder, name))),
);

for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, async () => {
    isEnding = true;
    clearTimeout(quiet);
    for (const watcher of watchers) watcher.close();
    await restarting.then(stop);
    process.exit();
  });

const url = `http://127.0.0.1:${settings.GATEWAY_PORT}`;
console.log(`Call it, without a key:

  curl ${url}/api/gateway/chat/completions -H "Content-Type: application/json" \\
    -d '{"model": "sandbox/echo:free", "messages": [{"role": "user", "content": "Hello!"}]}'

The management key, also for ${url}/console: ${settings.GATEWAY_ADMIN_KEY}
`);
start();
