import type { Command } from "commander";
import type { Config } from "../../app/config/config-schema.ts";
import type { Stores } from "../../app/stores/stores.ts";
import { localUrl, readUrl } from "../callers/gateway-url.ts";
import { withStores } from "../callers/with-stores.ts";
import { addExamples, addJsonOption, type JsonOption } from "../endpoint/read-options.ts";
import { createConsoleLink } from "../start/console-link.ts";
import { auditCommand } from "./audit-command.ts";

/** `gateway console`: prints a link that signs in one browser to the console. */
export function declareConsoleCommand(command: Command): void {
  command.option(
    "--url <url>",
    "Address of the gateway (default: console.url, or the configured host and port)",
    readUrl,
  );
  addExamples(command, ["gateway console", "gateway console --url https://gateway.example.com"]);
  addJsonOption(command).action((options: ConsoleOptions) =>
    withStores((stores, config) => printLink(stores, config, options)),
  );
}

interface ConsoleOptions extends JsonOption {
  readonly url?: string;
}

async function printLink(stores: Stores, config: Config, { url, json }: ConsoleOptions): Promise<string> {
  if (!config.console.enabled) throw new Error("The console is disabled. Set console.enabled: true.");
  const base = url ?? config.console.url ?? localUrl(config);
  const link = await createConsoleLink(stores, base);
  await auditCommand(stores, { action: "gateway console", accountId: null, target: null, changes: {} });
  if (json) return JSON.stringify({ data: { url: link } });
  return `Console: ${link}\n\nThis link signs in one browser as the operator. It works once and expires in an hour.`;
}
