import type { Command } from "commander";
import { addGatewayOptions, type GatewayOptions, withGateway } from "../callers/ask-gateway.ts";
import { addExamples, addJsonOption, type JsonOption } from "../endpoint/read-options.ts";
import { formatTable } from "../render/format-table.ts";

interface ReloadOptions extends GatewayOptions, JsonOption {
  readonly dryRun?: true;
}

/** The answer of the running gateway. */
interface Reload {
  readonly applied: boolean;
  readonly changes: readonly {
    readonly name: string;
    readonly before: unknown;
    readonly after: unknown;
    readonly is_secret: boolean;
    readonly needs_restart: boolean;
  }[];
}

/** A reload waits for all processes of the gateway. Milliseconds. */
const TIMEOUT_MS = 120_000;

/** `gateway reload`: puts the changes of the configuration file in force at the running gateway. */
export function declareReloadCommand(command: Command): void {
  command.option("--dry-run", "Show what would change, without changing it");
  addExamples(command, ["gateway reload --dry-run", "gateway reload"]);
  addJsonOption(addGatewayOptions(command)).action((options: ReloadOptions) =>
    withGateway(options, async (gateway) => {
      const query = options.dryRun ? "?dry_run=true" : "";
      const path = `/api/admin/settings/reload${query}`;
      const request = { method: "POST", path, timeoutMs: TIMEOUT_MS } as const;
      const { data } = await gateway.ask<{ readonly data: Reload }>(request);
      return options.json ? JSON.stringify({ data }) : printReload(data);
    }),
  );
}

function printReload({ applied, changes }: Reload): string {
  if (changes.length === 0) return "The configuration has not changed.";
  const rows = changes.map(({ name, before, after, is_secret, needs_restart }) => [
    name,
    is_secret ? printSecret(before) : print(before),
    is_secret ? `${printSecret(after)} (changed)` : print(after),
    needs_restart ? "after a restart" : applied ? "in force" : "on reload",
  ]);
  return formatTable(["setting", "before", "after", "takes effect"], rows);
}

function print(value: unknown): string {
  return value === null ? "–" : JSON.stringify(value);
}

function printSecret(value: unknown): string {
  return value === null ? "–" : "a secret";
}
