import type { Config } from "../../app/config/config-schema.ts";
import { configOfProcess } from "../../app/processes/count-processes.ts";
import { createProcessGroup } from "../../app/processes/create-process-group.ts";
import { reportStart, type ToProcess } from "../../app/processes/messages.ts";
import { startGateway } from "../../app/run/lifecycle.ts";
import { createSystemRandom } from "../../base/secrets/random.ts";
import { systemClock } from "../../base/time/clock.ts";
import { GatewayReplacedError } from "../../core/gateways/gateway-identity.ts";
import { createLog, withFields } from "../../telemetry/log.ts";
import { exitReplaced } from "./exit-replaced.ts";
import { ChildReloads } from "./reload-child.ts";
import { exitSoon, untilStopped, waitForStop } from "./stop-signals.ts";

/** Runs process `index` of several. It reports to the supervisor, and stops if that has ended. */
export async function startChildProcess(config: Config, index: number): Promise<void> {
  const log = withFields(createLog(config.log_level, systemClock), { process: index });
  const processes = createProcessGroup(index, {
    clock: systemClock,
    send: (message) => process.send?.(message),
  });
  const reloads = new ChildReloads(systemClock, (message) => void process.send?.(message));
  const stop = Promise.race([waitForStop(), waitForSupervisorEnd()]);
  const starting = startGateway(configOfProcess(config, index), {
    clock: systemClock,
    random: createSystemRandom(),
    log,
    environment: process.env,
    processes,
    adaptConfig: (read) => configOfProcess(read, index),
    setLogLevel: log.setLevel,
    reloadAll: (options) => reloads.reloadAll(options),
  });
  const gateway = await untilStopped(starting, stop);
  // The supervisor reloads all processes together.
  process.on("SIGHUP", () => {});
  process.on("message", async (message: ToProcess) => {
    processes.receive(message);
    if (message.kind !== "keysShown") return reloads.take(message, gateway, log);
    try {
      await gateway.firstStart?.confirmShown();
    } catch (reason) {
      log.error("could not record that the new keys were shown; the next start creates others", {
        detail: String(reason),
      });
    }
    process.send?.({ kind: "keysConfirmed" });
  });
  process.send?.(reportStart(gateway));
  log.info("listening", { url: gateway.url });
  log.flush();
  const replaced = await Promise.race([stop, gateway.replaced]);
  if (replaced instanceof GatewayReplacedError) return exitReplaced(replaced, log);
  log.info("stopping");
  await gateway.stop();
  log.info("stopped");
  log.flush();
  process.disconnect?.();
  exitSoon();
}

function waitForSupervisorEnd(): Promise<void> {
  return new Promise((resolve) => process.on("disconnect", () => resolve()));
}
