import type { Command } from "commander";
import { loadConfig } from "../app/config/load-config.ts";
import { openMasterKeys } from "../app/stores/open-master-keys.ts";
import { createSystemRandom } from "../base/secrets/random.ts";
import { systemClock } from "../base/time/clock.ts";
import { presentPromptLogEntry } from "../core/extensions/prompt-log/present-entry.ts";
import { findPromptLogEntry } from "../core/extensions/prompt-log/prompt-log.ts";
import { createVault } from "../core/provider-keys/vault.ts";
import { auditCommand } from "./audit-command.ts";
import { openCommandStores } from "./command-stores.ts";
import { formatFields } from "./format-table.ts";
import { print } from "./print.ts";
import { addJsonOption, type JsonOption } from "./read-options.ts";

/** `gateway prompt-log <id>`: shows the stored bodies of a generation. */
export function declarePromptLogCommand(command: Command): void {
  addJsonOption(command.argument("<id>", "ID of the generation, gen_…")).action(show);
}

async function show(id: string, { json }: JsonOption): Promise<void> {
  const config = loadConfig(process.env);
  const random = createSystemRandom();
  const stores = await openCommandStores(config);
  try {
    const vault = createVault(openMasterKeys(config, random), random);
    const entry = await findPromptLogEntry({ store: stores.promptLog, vault, clock: systemClock }, id);
    if (entry === null)
      throw new Error(
        `There is no prompt log entry for ${id}, it has expired, or its master key is missing. Keys with prompt_log have entries: gateway keys update <id> --prompt-log <seconds>`,
      );
    await auditCommand(stores, {
      action: "gateway prompt-log",
      accountId: entry.accountId,
      target: entry.id,
      changes: {},
    });
    const data = presentPromptLogEntry(entry);
    print(json ? JSON.stringify({ data }) : formatFields(data));
  } finally {
    await stores.close();
  }
}
