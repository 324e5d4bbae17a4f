import type { Command } from "commander";
import { loadConfig } from "../../app/config/load-config.ts";
import { type MasterRotation, rotateMasterKey } from "../../app/stores/rotate-master-key.ts";
import { createSystemRandom } from "../../base/secrets/random.ts";
import { openCommandStores } from "../callers/command-stores.ts";
import { EXIT_CODES } from "../render/exit-codes.ts";
import { print } from "../render/print.ts";
import { declareConfigSecretCommands } from "../resources/platform/stored-config.ts";

/** `gateway secrets`: the secrets of the stored configuration, and the rotation of the master key. A gateway may run on the data directory. */
export function declareSecretsCommands(secrets: Command): void {
  declareConfigSecretCommands(secrets);
  secrets
    .command("rotate")
    .description(
      "Re-encrypt all secrets with the newest master key: the first of GATEWAY_SECRETS_KEY or secrets.keys, or a new one if none is configured. An interrupted rotation can be run again.",
    )
    .action(rotate);
}

async function rotate(): Promise<void> {
  const config = loadConfig(process.env);
  const random = createSystemRandom();
  const stores = await openCommandStores(config);
  try {
    const rotation = await rotateMasterKey(config, stores, random);
    print(formatRotation(rotation));
    if (rotation !== null && rotation.unreadable.length > 0) process.exitCode = EXIT_CODES.failed;
  } finally {
    await stores.close();
  }
}

function formatRotation(rotation: MasterRotation | null): string {
  if (rotation === null) return "No secrets are stored: nothing to re-encrypt.";
  const { resealed, unreadable, masterKeyId, isNew, idleFile } = rotation;
  const lines = [
    `Re-encrypted ${resealed} secrets with${isNew ? " the new" : ""} master key ${masterKeyId}.`,
  ];
  if (idleFile !== null) lines.push(`${idleFile} is not needed any more and can be deleted.`);
  if (unreadable.length > 0) {
    lines.push(
      "These secrets cannot be decrypted, because their master key is missing. Restore it, or store them again:",
    );
    for (const { id, accountId, sealed } of unreadable) {
      const owner = accountId === null ? "a secret of the configuration" : `a provider key of ${accountId}`;
      lines.push(`  ${id}, ${owner}, needs master key ${sealed.masterKeyId}`);
    }
  }
  return lines.join("\n");
}
