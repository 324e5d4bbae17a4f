/** The fields that a list can be filtered by, and the filters that are set. Pure functions. */
import { filterOptions, type Option } from "../../state/filter-options.ts";

/** How a field is compared with a value. */
export type Operator = "is" | "contains";

/** A field of a filter bar. */
export interface FilterField {
  readonly id: string;
  readonly label: string;
  /** The parameter of the address for each comparison that the API has. The first one is preset. */
  readonly parameters: Readonly<Partial<Record<Operator, string>>>;
  /** The values that are suggested. */
  options?(): readonly Option[];
  /** Loads the suggestions. */
  load?(): void;
  /** Whether only suggested values are taken. */
  readonly isClosed?: boolean;
  /** What may be typed, for a field without suggestions. */
  readonly hint?: string;
}

/** A filter that is set. */
export interface FilterChip {
  readonly field: FilterField;
  readonly operator: Operator;
  readonly parameter: string;
  readonly value: string;
}

type Values = Readonly<Record<string, string | undefined>>;

/** Returns the comparisons of a field. */
export function operatorsOf({ parameters }: FilterField): readonly Operator[] {
  return Object.keys(parameters) as Operator[];
}

/** Returns the filters that are set, in the order of the fields. */
export function listChips(fields: readonly FilterField[], values: Values): readonly FilterChip[] {
  return fields.flatMap((field) =>
    operatorsOf(field).flatMap((operator) => {
      const parameter = field.parameters[operator];
      const value = parameter === undefined ? undefined : values[parameter];
      return parameter !== undefined && value ? [{ field, operator, parameter, value }] : [];
    }),
  );
}

/** Returns what is shown for a value: its label, if the suggestions name it. */
export function labelOf({ options }: FilterField, value: string): string {
  return options?.().find((option) => option.value === value)?.label ?? value;
}

/** Returns the changes of parameters that set a filter, and remove the one that it replaces. */
export function applyChip(
  field: FilterField,
  chosen: { readonly operator: Operator; readonly value: string },
  before: FilterChip | null,
): Record<string, string | null> {
  const parameter = field.parameters[chosen.operator];
  if (parameter === undefined) return {};
  return { ...(before === null ? {} : { [before.parameter]: null }), [parameter]: chosen.value };
}

/** Returns the values to choose from for a typed text. It is one of them where a field takes any text. */
export function listValues(field: FilterField, operator: Operator, typed: string): readonly Option[] {
  const text = typed.trim();
  const own = text === "" ? [] : [{ value: text, label: text }];
  if (operator === "contains") return own;
  const found = filterOptions(field.options?.() ?? [], typed);
  const isListed = found.some(({ value, label }) => value === text || label === text);
  return field.isClosed || isListed ? found : [...found, ...own];
}
