import { type Command, InvalidArgumentError, Option } from "commander";
import type { Config } from "../../app/config/config-schema.ts";
import { loadConfig } from "../../app/config/load-config.ts";
import { rejectFormerDataDir } from "../../app/config/locate-data-dir.ts";
import { countProcesses } from "../../app/processes/count-processes.ts";
import { type RunningGateway, startGateway } from "../../app/run/lifecycle.ts";
import { requireSoundConfig } from "../../app/serving/find-config-problems.ts";
import { createSystemRandom } from "../../base/secrets/random.ts";
import { systemClock } from "../../base/time/clock.ts";
import { GatewayReplacedError } from "../../core/gateways/gateway-identity.ts";
import { type BufferedLog, createLog } from "../../telemetry/log.ts";
import { linkForGreeting } from "./console-link.ts";
import { exitReplaced } from "./exit-replaced.ts";
import { printGreeting } from "./greeting.ts";
import { reloadOnSignal } from "./reload-on-signal.ts";
import { startChildProcess } from "./start-child.ts";
import { startProcesses } from "./start-processes.ts";
import { exitSoon, onHangup, untilStopped, waitForStop } from "./stop-signals.ts";

/** `gateway start`: serves until SIGTERM or SIGINT. */
export function declareStartCommand(command: Command): void {
  command
    // The command that the supervisor of several processes starts. It is not for users.
    .addOption(
      new Option("--process <index>", "Run as one of several processes").hideHelp().argParser(readIndex),
    )
    .action(start);
}

function readIndex(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError("It must be a positive integer.");
  return Number(text);
}

async function start({ process: index }: { readonly process?: number }): Promise<void> {
  const environment = process.env;
  const sources = { environment, clock: systemClock, random: createSystemRandom() };
  const config = await requireSoundConfig(() => loadConfig(environment), sources);
  rejectFormerDataDir(config);
  if (index !== undefined) return startChildProcess(config, index);
  const count = countProcesses(config);
  return count === 1 ? startOne(config) : startProcesses(config, count);
}

async function startOne(config: Config): Promise<void> {
  const log = createLog(config.log_level, systemClock);
  const signal = waitForStop();
  const starting = startGateway(config, {
    clock: systemClock,
    random: createSystemRandom(),
    log,
    environment: process.env,
    setLogLevel: log.setLevel,
  });
  const gateway = await untilStopped(starting, signal);
  onHangup(() => void reloadOnSignal({ gateway, log, clock: systemClock }));
  void greet(gateway, config, log);
  const replaced = await Promise.race([signal, gateway.replaced]);
  if (replaced instanceof GatewayReplacedError) return exitReplaced(replaced, log);
  log.info("stopping");
  await gateway.stop();
  log.info("stopped");
  log.flush();
  exitSoon();
}

/** Prints the greeting, and records that the secrets were shown once they are written. */
async function greet(gateway: RunningGateway, config: Config, log: BufferedLog): Promise<void> {
  const { firstStart, url } = gateway;
  try {
    const console = await linkForGreeting(config, { url, hasNewKeys: firstStart !== null, log });
    if (await printGreeting({ ...gateway, keys: firstStart, console })) await firstStart?.confirmShown();
  } catch (reason) {
    log.error("could not record that the new keys were shown; the next start creates others", {
      detail: String(reason),
    });
  }
  log.info("listening", { url: gateway.url });
  log.flush();
}
