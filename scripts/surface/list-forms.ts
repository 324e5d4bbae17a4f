import type { Entry } from "./entry.ts";

/** JSON that a command has printed. */
export interface Printed {
  readonly command: string;
  readonly json: unknown;
}

/** Members whose own members depend on what was changed or set: no promise. */
const OPEN = new Set(["changes", "value"]);

/** Lists the form of what commands have printed: every member of objects and lists, with the types of the values that it had. */
export function listForms(printed: readonly Printed[]): readonly Entry[] {
  const types = new Map<string, { readonly path: readonly string[]; readonly names: Set<string> }>();
  const visit = (value: unknown, path: readonly string[]): void => {
    const key = path.join("\n");
    const known = types.get(key) ?? { path, names: new Set<string>() };
    types.set(key, known);
    known.names.add(value === null ? "null" : Array.isArray(value) ? "list" : typeof value);
    if (OPEN.has(path.at(-1) as string)) return;
    if (Array.isArray(value)) for (const item of value) visit(item, [...path, "[]"]);
    else if (typeof value === "object" && value !== null)
      for (const [name, member] of Object.entries(value)) visit(member, [...path, name]);
  };
  for (const { command, json } of printed) visit(json, [command]);
  return [...types.values()].map(({ path, names }) => ({ path, value: [...names].sort().join(" or ") }));
}
