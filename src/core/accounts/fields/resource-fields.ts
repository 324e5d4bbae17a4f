import { z } from "zod";
import { BOUNDS } from "../../../base/numbers/bounds.ts";
import { parseDollars, toDollars } from "../../../base/numbers/money.ts";
import { formatTime } from "../../../base/time/time.ts";
import { PlainText } from "../../catalog/records/plain-text-schema.ts";
import { DOLLARS_FORMAT, EXPIRY_FORMAT, type FieldOption, type OptionTexts } from "./field-option.ts";

/*
 * The fields of a resource are declared once, by their JSON names. The schemas of requests and responses, the OpenAPI document,
 * the options and the JSON of the commands, and the mapping to records (`spend_limit` is `spendLimit`) derive from the
 * declaration.
 */

/** A field that responses have. `Value` is its type in a record. */
interface Field<Value> {
  /** The schema of the field in a response. */
  readonly view: z.ZodType;
  present(this: void, value: Value): unknown;
}

/** A field that requests can set. `Change` is what a record is changed to or by. */
export interface SettableField<Value, Input extends z.ZodType, Change> extends Field<Value> {
  /** The schema of the field in a request. */
  readonly input: Input;
  readonly read: (json: z.infer<Input>) => Change;
  /** The option of the commands that set the field. */
  readonly option?: FieldOption | undefined;
}

type AnyField = Field<never>;

/** Any field that requests can set. */
export interface AnySettableField extends AnyField {
  readonly input: z.ZodType;
  readonly read: (json: never) => unknown;
  readonly option?: FieldOption | undefined;
  /** The fields of an object, each with its own option. */
  readonly parts?: SettableFields;
}

/** Fields that requests can set, by their names in JSON. */
export interface SettableFields {
  readonly [name: string]: AnySettableField;
}

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** Lists in records are read-only. */
type ReadOnly<Value> = Value extends readonly (infer Item)[] ? readonly Item[] : Value;

/** The part of a record that fields show. */
export type Shown<Fields> = {
  readonly [Name in keyof Fields & string as CamelCase<Name>]: Fields[Name] extends Field<infer Value>
    ? ReadOnly<Value>
    : never;
};

/** The values that a request sets, by their names in a record. Absent and undefined values are not changed. */
export type Change<Fields> = {
  readonly [Name in keyof Fields & string as CamelCase<Name>]?: Fields[Name] extends {
    read(json: never): infer Changed;
  }
    ? ReadOnly<Changed> | undefined
    : never;
};

/** The values of a validated request body. */
export type Json<Fields> = {
  readonly [Name in keyof Fields]?: Fields[Name] extends { readonly input: infer Input extends z.ZodType }
    ? z.infer<Input> | undefined
    : never;
};

/** Returns the response schemas of fields, for `z.object`. */
export function viewShape<Fields extends Readonly<Record<string, AnyField>>>(
  fields: Fields,
): { [Name in keyof Fields]: Fields[Name]["view"] } {
  return mapValues(fields, ({ view }) => view) as { [Name in keyof Fields]: Fields[Name]["view"] };
}

/** Returns the request schemas of fields, each optional, for `z.strictObject`. */
export function changeShape<Fields extends SettableFields>(
  fields: Fields,
): { [Name in keyof Fields]: z.ZodOptional<Fields[Name]["input"]> } {
  return mapValues(fields, ({ input }) => input.optional()) as {
    [Name in keyof Fields]: z.ZodOptional<Fields[Name]["input"]>;
  };
}

/** Returns a record's fields as JSON. */
export function presentFields<Fields extends Readonly<Record<string, AnyField>>>(
  fields: Fields,
  record: Shown<Fields>,
): Record<string, unknown> {
  return mapValues(fields, ({ present }, name) =>
    present((record as Readonly<Record<string, unknown>>)[camelCase(name)] as never),
  );
}

/** Returns the values of a validated request body by their names in a record. Only fields that are in the body appear. */
export function readFields<Fields extends SettableFields>(
  fields: Fields,
  body: Json<Fields>,
): Change<Fields> {
  const given = Object.entries(fields).filter(([name]) => body[name] !== undefined);
  return Object.fromEntries(
    given.map(([name, { read }]) => [camelCase(name), read(body[name] as never)]),
  ) as Change<Fields>;
}

/** Returns a record with the changes applied; undefined changes nothing. */
export function mergeChange<RecordType extends object>(
  before: RecordType,
  change: { readonly [Name in keyof RecordType]?: RecordType[Name] | undefined },
): RecordType {
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  return { ...before, ...Object.fromEntries(given) };
}

/** Returns null for each field, by its name in a record. */
export function unsetFields<Fields extends SettableFields>(
  fields: Fields,
): { readonly [Name in keyof Fields & string as CamelCase<Name>]: null } {
  const names = Object.keys(fields).map((name) => [camelCase(name), null]);
  return Object.fromEntries(names) as ReturnType<typeof unsetFields<Fields>>;
}

/** Returns the first field, in the order of the declaration, that a change sets to anything but null. */
export function findSetField<Fields extends SettableFields>(
  fields: Fields,
  change: Change<Fields>,
): string | undefined {
  const values = change as Readonly<Record<string, unknown>>;
  return Object.keys(fields).find((name) => (values[camelCase(name)] ?? null) !== null);
}

function mapValues<Value, Mapped>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value, name: string) => Mapped,
): Record<string, Mapped> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns a field whose value is the same in JSON and in records. */
export function plainField<View extends z.ZodType>(view: View, description: string): Field<z.infer<View>> {
  return { view: view.describe(description), present: (value) => value };
}

/**
 * Returns the same for a field that requests can set. `input` may be stricter than `view`, the schema of what was stored
 * earlier.
 */
export function settableField<Input extends z.ZodType>(
  { view, input }: { readonly view: z.ZodType; readonly input: Input },
  description: string,
  option?: FieldOption,
): SettableField<z.infer<Input>, Input, z.infer<Input>> {
  return {
    view: view.describe(description),
    input: input.describe(description),
    present: (value) => value,
    read: (json) => json as z.infer<Input>,
    option,
  };
}

/** Returns a point in time: RFC 3339 in JSON, milliseconds since the epoch in records. */
export function timeField(description: string): Field<number> {
  return { view: z.iso.datetime().describe(description), present: (ms) => formatTime(ms) };
}

/** Returns a point in time that may be null. */
export function nullableTimeField(description: string): Field<number | null> {
  return { view: z.iso.datetime().nullable().describe(description), present: formatTime };
}

const TimeInput = z.iso.datetime({ offset: true }).nullable();

/** Returns an expiry time that requests can set; null for never. */
export function expiryField(
  description: string,
  option: OptionTexts,
): SettableField<number | null, typeof TimeInput, number | null> {
  return {
    ...nullableTimeField(description),
    input: TimeInput.describe(description),
    read: (json) => (json === null ? null : Date.parse(json)),
    option: { ...option, ...EXPIRY_FORMAT },
  };
}

/** An amount of US dollars in a body, as a number or a decimal string: at least `least` nanodollars, and exact. */
export function dollarsInput(least: 0 | 1) {
  return z
    .union([z.string(), z.number()], { error: 'must be US dollars, such as 12.5 or "12.50"' })
    .refine((dollars) => parseDollars(dollars) !== null, {
      error: "must be an amount of US dollars with at most 9 decimal places and less than 9 million",
    })
    .refine((dollars) => (parseDollars(dollars) ?? least) >= least, {
      error: least === 0 ? "must not be negative" : "must be more than 0",
    });
}

const DollarsInput = dollarsInput(0)
  .describe("US dollars, as a number or a decimal string with at most nine decimal places.")
  .nullable();

/** Returns an amount of US dollars, or null: a number in JSON, nanodollars in records. */
export function dollarsField(
  description: string,
  option: OptionTexts,
): SettableField<number | null, typeof DollarsInput, number | null> {
  return {
    view: z.number().nullable().describe(description),
    input: DollarsInput.describe(description),
    present: (nanodollars) => (nanodollars === null ? null : toDollars(nanodollars)),
    read: (dollars) => (dollars === null ? null : parseDollars(dollars)),
    option: { ...option, ...DOLLARS_FORMAT },
  };
}

/** A display name. */
export const NameInput = PlainText.trim()
  .min(1)
  .max(200)
  .meta({ examples: ["Ada"] });

/** An id in a path or a body. */
export const IdInput = PlainText.min(1).max(100);

/** A text that is searched in names and ids. */
export const SearchInput = z.string().trim().min(1).max(100);

/** Patterns of ids. */
export const PatternsInput = z
  .array(PlainText.trim().min(1).max(BOUNDS.modelIdChars))
  .max(BOUNDS.patterns)
  .describe("Ids or patterns. `*` matches any characters.");
