import type { Command } from "commander";
import { loadConfig } from "../../app/load-config.ts";
import { openMasterKeys } from "../../app/open-master-keys.ts";
import { systemClock } from "../../base/clock.ts";
import { createSystemRandom } from "../../base/random.ts";
import { presentPromptLogEntry } from "../../core/extensions/prompt-log/present-entry.ts";
import { findPromptLogEntry } from "../../core/extensions/prompt-log/prompt-log.ts";
import { createVault } from "../../core/provider-keys/vault.ts";
import { openCommandStores } from "../callers/command-stores.ts";
import { addJsonOption, type JsonOption } from "../endpoint/read-options.ts";
import { auditCommand } from "../operate/audit-command.ts";
import { formatFields } from "../render/format-table.ts";
import { print } from "../render/print.ts";

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
