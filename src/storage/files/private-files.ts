import { closeSync, mkdirSync, openSync } from "node:fs";

/** Only the gateway's user may read its files: they contain request metadata, keys and balances. */
export const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;

/** Creates an empty file that only its owner may read, if it does not exist. */
export function makePrivateFile(file: string): void {
  closeSync(openSync(file, "a", PRIVATE_FILE));
}

/** Creates a directory and its missing parents, which only their owner may enter. */
export function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });
}
