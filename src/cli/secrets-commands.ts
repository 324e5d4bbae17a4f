import type { Command } from "commander";
import { loadConfig } from "../app/load-config.ts";
import { type MasterRotation, rotateMasterKey } from "../app/rotate-master-key.ts";
import { openStores } from "../app/wire-up.ts";
import { systemClock } from "../base/clock.ts";
import { createSystemRandom } from "../base/random.ts";

/** `gateway secrets rotate`: a gateway may run on the data directory. */
export function addSecretsCommands(program: Command): void {
  const secrets = program
    .command("secrets")
    .description("look after the keys that seal accounts' provider keys");
  secrets
    .command("rotate")
    .description(
      "seal everything under the newest master key: a new one where the gateway keeps them itself, else the first of GATEWAY_SECRETS_KEY or secrets.keys; can be broken off and run again",
    )
    .action(rotate);
}

async function rotate(): Promise<void> {
  const config = loadConfig(process.env);
  const random = createSystemRandom();
  const stores = openStores(config.data_dir, systemClock, random);
  try {
    const rotation = await rotateMasterKey(config, stores, random);
    console.log(describe(rotation));
    if (rotation !== null && rotation.unreadable.length > 0) process.exitCode = 1;
  } finally {
    stores.close();
  }
}

function describe(rotation: MasterRotation | null): string {
  if (rotation === null) return "No provider keys are stored: there is nothing to seal.";
  const { resealed, unreadable, masterKeyId, isNew, idleFile } = rotation;
  const lines = [
    `${resealed} provider keys were sealed anew under master key ${masterKeyId}${isNew ? ", which is new" : ""}.`,
  ];
  if (idleFile !== null) lines.push(`Nothing needs ${idleFile} any more; it can be deleted.`);
  if (unreadable.length > 0) {
    lines.push(
      "These cannot be opened, because their master key is missing: restore it, or store those keys again.",
    );
    for (const { id, accountId, provider, sealed } of unreadable)
      lines.push(`  ${id}, a key of ${accountId} for ${provider}, needs master key ${sealed.masterKeyId}`);
  }
  return lines.join("\n");
}
