import type { Command } from "commander";
import { type RunningGateway, startGateway } from "../app/lifecycle.ts";
import { loadConfig } from "../app/load-config.ts";
import { systemClock } from "../base/clock.ts";
import { createSystemRandom } from "../base/random.ts";
import { type BufferedLog, createLog } from "../telemetry/log.ts";

/** `gateway start`: serves until it is told to stop. */
export function addStartCommand(program: Command): void {
  program.command("start").description("serve until SIGTERM or Ctrl-C").action(start);
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
  // Whoever reads the log may have stopped; the last lines wait for them, but not for ever.
  setTimeout(() => process.exit(0), LAST_LINES_MS).unref();
}

/** Greets, and notes that the secrets were shown once they are out of this process. */
function showGreeting(gateway: RunningGateway, log: BufferedLog): void {
  // That nobody reads is told to the write below; as an event unheard it would end the process in place of a stop in order.
  process.stderr.on("error", () => {});
  // People read standard error; standard output carries the log alone.
  process.stderr.write(greet(gateway), async (error) => {
    try {
      if (!error) await gateway.firstStart?.confirmShown();
    } catch (reason) {
      log.error("could not note that the new keys were shown; the next start makes others", {
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
      // A second signal means now.
      if (isStopping) process.exit(130);
      isStopping = true;
      resolve();
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
  });
}

/** What a person sees at start. Secrets stand here at the first start, and nowhere else. */
function greet({ url, notices, firstStart, exampleModel }: RunningGateway): string {
  const lines = [`Gateway listens on ${url}`, ...notices.map((notice) => `Note: ${notice}`)];
  if (firstStart === null) return `${lines.join("\n")}\n`;
  const { managementKey, inferenceKey } = firstStart;
  lines.push("", "New keys. They are shown this once:", "");
  if (managementKey !== null) lines.push(`  management key  ${managementKey}`);
  if (inferenceKey !== null)
    lines.push(`  inference key   ${inferenceKey}`, "", ...greetTry(url, inferenceKey, exampleModel));
  return `${lines.join("\n")}\n\n`;
}

function greetTry(url: string, inferenceKey: string, model: string | null): string[] {
  if (model === null) return ["No model is served yet: set a provider's API key and start again."];
  return [
    "Try it:",
    "",
    `  curl ${url}/api/gateway/chat/completions \\`,
    `    -H "Authorization: Bearer ${inferenceKey}" -H "Content-Type: application/json" \\`,
    `    -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello!"}]}'`,
  ];
}
