import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findTempRoot } from "./temp-root.ts";

/** Global, because a test file may have instances of this module of its own. */
const registry = globalThis as { gatewayTempFolders?: Set<string> };
registry.gatewayTempFolders ??= new Set();
const folders = registry.gatewayTempFolders;

/**
 * Creates a folder for a test, whose name begins with `prefix`. A test may remove it as soon as it can; what is left of it after the
 * test file, also of failed tests and of gateways that did not start, is removed then.
 */
export function makeTempFolder(prefix: string): string {
  const folder = mkdtempSync(join(findTempRoot(), prefix));
  folders.add(folder);
  return folder;
}

/** Removes all folders that were created, also those that something has written into again since they were removed. */
export function removeTempFolders(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  folders.clear();
}
