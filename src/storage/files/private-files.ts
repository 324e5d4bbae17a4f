import { closeSync, mkdirSync, openSync } from "node:fs";

/** What the gateway keeps is its user's alone: prompts' facts, keys and money are in it. */
export const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;

/** Makes an empty file that nobody else may read, where there is none. */
export function makePrivateFile(file: string): void {
  closeSync(openSync(file, "a", PRIVATE_FILE));
}

/** Makes a folder, and those above it that are missing, that nobody else may enter. */
export function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });
}
