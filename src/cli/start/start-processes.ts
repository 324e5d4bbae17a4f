import type { Config } from "../../app/config/config-schema.ts";
import { choosePort } from "../../app/processes/choose-port.ts";
import { spawnChild } from "../../app/processes/spawn-child.ts";
import { Supervisor } from "../../app/processes/supervisor.ts";
import { systemClock } from "../../base/time/clock.ts";
import { createLog, createStdoutWriter } from "../../telemetry/log.ts";
import { linkForGreeting } from "./console-link.ts";
import { printGreeting } from "./greeting.ts";
import { ownCommand } from "./own-command.ts";
import { NOT_RELOADED } from "./reload-on-signal.ts";
import { exitSoon, onHangup, waitForStop } from "./stop-signals.ts";

/** How long a process may take to write its last records after the drain time. Milliseconds. */
const LAST_RECORDS_MS = 10_000;
const FOREVER_MS = 2 ** 31 - 1;

/**
 * Runs `count` gateway processes on one port until SIGTERM or SIGINT. SIGHUP reloads their configuration, SIGUSR2 restarts them one after
 * another.
 */
export async function startProcesses(config: Config, count: number): Promise<void> {
  const writeLines = createStdoutWriter();
  const log = createLog(config.log_level, systemClock, writeLines);
  const { host, drain_ms } = config.server;
  const port = choosePort(host, config.server.port);
  const supervisor: Supervisor = new Supervisor({
    count,
    startChild: (index) => {
      const environment = { ...process.env, GATEWAY_PORT: String(port) };
      return spawnChild({
        command: [...ownCommand(process), "start", "--process", String(index)],
        environment,
        writeLines,
        readOthers: () => supervisor.readMetricsOfOthers(index),
        clock: systemClock,
        reloadAll: (options) => supervisor.reload(options, false),
      });
    },
    stopMs: drain_ms + LAST_RECORDS_MS,
    clock: systemClock,
    log,
  });
  // Timers do not keep the process alive, and for moments no child may run.
  const alive = setInterval(() => {}, FOREVER_MS);
  const stop = waitForStop(() => supervisor.kill());
  const note = `${count} processes share the port.`;
  const starting = supervisor.start(async (first) => {
    const { url, notices, keys } = first;
    const console = await linkForGreeting(config, { url, hasNewKeys: keys !== null, log });
    const shown = await printGreeting({ ...first, notices: [...notices, note], console });
    if (!shown && first.keys !== null) throw new Error("the new keys could not be shown");
  });
  starting.catch(() => {});
  try {
    await Promise.race([starting.then(() => log.info("listening", { processes: count, port })), stop]);
    log.flush();
    process.on("SIGUSR2", () => void supervisor.restartAll());
    onHangup(async () => {
      const outcome = await supervisor.reload({ dryRun: false }, true);
      if (outcome.kind === "rejected") log.error(NOT_RELOADED, { detail: outcome.rejection.message });
    });
    await stop;
    const killed = await supervisor.stop();
    exitSoon(killed === 0 ? 0 : 1);
  } finally {
    clearInterval(alive);
  }
}
