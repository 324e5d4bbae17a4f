import { Option } from "commander";
import type { AnySettableField, SettableFields } from "../../core/accounts/fields/resource-fields.ts";
import type { AnyCommandSpec } from "./command-spec.ts";

/**
 * Throws an error again that a call of an endpoint has thrown. If its message begins with the field that is wrong, as in "limit must be
 * more than 0", the new message names the option or argument of that field instead.
 */
export function explainProblem(spec: AnyCommandSpec, error: unknown): never {
  if (!(error instanceof Error)) throw error;
  const [written = "", field] = /^([\w.]+)(?:\[\d+\])?(?=: | must | names )/.exec(error.message) ?? [];
  const name = field === undefined ? undefined : nameOf(spec, field.split(".").at(-1) as string);
  if (name === undefined) throw error;
  throw new Error(name + error.message.slice(written.length));
}

/** Returns the option or argument of a field; undefined if it has none. */
function nameOf({ args = [], options = [], settings }: AnyCommandSpec, field: string): string | undefined {
  const isOf = (one: { readonly field: string | null }) => one.field?.split(".").at(-1) === field;
  const flags = options.find(isOf)?.flags ?? flagsOf(settings?.of ?? {}, field);
  return flags === undefined ? args.find(isOf)?.name : (new Option(flags).long ?? undefined);
}

function flagsOf(fields: SettableFields, name: string): string | undefined {
  for (const [field, { option, parts }] of Object.entries(fields) as [string, AnySettableField][]) {
    const flags = parts === undefined ? undefined : flagsOf(parts, name);
    if (flags !== undefined) return flags;
    if (field === name && option !== undefined) return option.flags;
  }
  return undefined;
}
