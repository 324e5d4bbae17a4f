import { type Command, Option } from "commander";
import type { FieldOption } from "../../core/accounts/fields/field-option.ts";
import type { AnySettableField, Json, SettableFields } from "../../core/accounts/fields/resource-fields.ts";

/** The given options of a command, by commander's names. A repeatable option has a list. */
type GivenOptions = Readonly<Record<string, unknown>>;

/** Adds the options of fields to a command. For a new resource the help texts state defaults. */
export function addFieldOptions(command: Command, fields: SettableFields, use: "new" | "change"): Command {
  for (const { option, parts } of Object.values(fields)) {
    if (option !== undefined) {
      // A variadic option of a change would consume the id that follows it.
      const flags = use === "new" ? option.flags : option.flags.replace("...", "");
      command.option(flags, describeOption(option, use));
    }
    if (parts !== undefined) addFieldOptions(command, parts, use);
  }
  return command;
}

function describeOption({ help, none, initial = none }: FieldOption, use: "new" | "change"): string {
  const unset = none === undefined ? "" : none === "none" ? ", or none" : `, or none for ${none}`;
  if (use === "change" || initial === undefined) return help + unset;
  return `${help}${initial === none ? "" : unset} (default: ${initial})`;
}

/**
 * Returns the fields of a request body from the given options. `now` is in milliseconds since the epoch.
 * @throws Error that names the first option with an invalid value.
 */
export function readFieldOptions<Fields extends SettableFields>(
  fields: Fields,
  given: GivenOptions,
  now: number,
): Json<Fields> {
  const values = Object.entries(fields).map(([name, field]) => [name, readField(field, given, now)]);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Json<Fields>;
}

function readField({ input, option, parts }: AnySettableField, given: GivenOptions, now: number): unknown {
  if (parts !== undefined) {
    const json = readFieldOptions(parts, given, now);
    return Object.keys(json).length === 0 ? undefined : json;
  }
  if (option === undefined) return undefined;
  const { long, attributeName } = nameOption(option);
  const value = given[attributeName];
  if (value === undefined) return undefined;
  const parsed = input.safeParse(option.parse(String(value), now));
  if (parsed.success) return parsed.data;
  throw new Error(`${long} must be ${option.expected}`);
}

function nameOption({ flags }: FieldOption): { readonly long: string; readonly attributeName: string } {
  const option = new Option(flags);
  return { long: option.long ?? flags, attributeName: option.attributeName() };
}
