import { signal } from "@preact/signals";

/** The names of what loaded entries of the audit log are about, by their ids. */
export const entryNames = signal<ReadonlyMap<string, string>>(new Map());

/** Adds names that came with a page of entries. */
export function addEntryNames(names: Readonly<Record<string, string>>): void {
  entryNames.value = new Map([...entryNames.value, ...Object.entries(names)]);
}
