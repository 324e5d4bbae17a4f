import type { Command } from "commander";
import { type RunningGateway, startGateway } from "../app/lifecycle.ts";
import { loadConfig } from "../app/load-config.ts";
import { systemClock } from "../base/clock.ts";
import { createSystemRandom } from "../base/random.ts";
import { type BufferedLog, createLog } from "../telemetry/log.ts";

/** `gateway start`: serves until SIGTERM or SIGINT. */
export function addStartCommand(program: Command): void {
  program.command("start").description("Start the gateway; stops on SIGTERM or Ctrl-C").action(start);
}

async function start(): Promise<void> {
  const config = loadConfig(process.env);
  const log = createLog(config.log_level, systemClock);
  const gateway = await startGateway(config, {
    clock: systemClock,
    random: createSystemRandom(),
    log,
    environment: process.env,
  });
  const signal = waitForSignal();
  showGreeting(gateway, log);
  await signal;
  log.info("stopping");
  await gateway.stop();
  log.info("stopped");
  log.flush();
  // A reader of the log that has stopped must not keep the process from ending.
  setTimeout(() => process.exit(0), LAST_LINES_MS).unref();
}

/** Prints the greeting, and records that the secrets were shown once they are written. */
function showGreeting(gateway: RunningGateway, log: BufferedLog): void {
  // The callback of the write handles a closed stream; an unhandled "error" event would end the process without a graceful stop.
  process.stderr.on("error", () => {});
  // The greeting goes to standard error, because standard output carries only the log.
  process.stderr.write(greet(gateway), async (error) => {
    try {
      if (!error) await gateway.firstStart?.confirmShown();
    } catch (reason) {
      log.error("could not record that the new keys were shown; the next start creates others", {
        detail: String(reason),
      });
    }
    log.info("listening", { url: gateway.url });
    log.flush();
  });
}

const LAST_LINES_MS = 1_000;

function waitForSignal(): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false;
    const onSignal = (): void => {
      // A second signal ends the process at once.
      if (isStopping) process.exit(130);
      isStopping = true;
      resolve();
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
  });
}

/** Returns the greeting. It is the only place where the secrets of the first start are shown. */
function greet({ url, notices, firstStart, exampleModel }: RunningGateway): string {
  const lines = [`Gateway listens on ${url}`, ...notices.map((notice) => `Note: ${notice}`)];
  if (firstStart === null) return `${lines.join("\n")}\n`;
  const { managementKey, inferenceKey } = firstStart;
  lines.push("", "New keys, shown only once:", "");
  if (managementKey !== null) lines.push(`  management key  ${managementKey}`);
  if (inferenceKey !== null)
    lines.push(`  inference key   ${inferenceKey}`, "", ...greetTry(url, inferenceKey, exampleModel));
  return `${lines.join("\n")}\n\n`;
}

function greetTry(url: string, inferenceKey: string, model: string | null): string[] {
  if (model === null) return ["No models are served yet: set a provider's API key and start again."];
  return [
    "Try it:",
    "",
    `  curl ${url}/api/gateway/chat/completions \\`,
    `    -H "Authorization: Bearer ${inferenceKey}" -H "Content-Type: application/json" \\`,
    `    -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello!"}]}'`,
  ];
}
