import type { z } from "zod";
import { asFields, createTable } from "../../../base/json/fields.ts";

type Check = (value: unknown) => boolean;

/**
 * Returns a check that accepts a JSON value if a schema does, in a tenth of the time, because it makes neither a copy nor problems.
 * @throws Error for a schema of a kind that files of models do not have.
 */
export function compileCheck(schema: z.core.$ZodType): Check {
  const { def } = schema._zod;
  const constraints = [
    def as object as Constraint,
    ...(def.checks ?? []).map(({ _zod }) => _zod.def as Constraint),
  ]
    .filter(({ check }) => check !== undefined)
    .map(compileConstraint);
  const isOfKind = compileKind(schema as z.core.$ZodTypes);
  return constraints.length === 0
    ? isOfKind
    : (value) => isOfKind(value) && constraints.every((holds) => holds(value as never));
}

function compileKind({ _zod: { def, values } }: z.core.$ZodTypes): Check {
  switch (def.type) {
    case "string":
    case "number":
    case "boolean":
      return (value) => typeof value === def.type;
    case "enum":
    case "literal":
      return (value) => values?.has(value as string) === true;
    case "optional":
    case "default": {
      const isInner = compileCheck(def.innerType);
      return (value) => value === undefined || isInner(value);
    }
    case "nullable": {
      const isInner = compileCheck(def.innerType);
      return (value) => value === null || isInner(value);
    }
    case "union": {
      const options = def.options.map(compileCheck);
      return (value) => options.some((option) => option(value));
    }
    case "array": {
      const isItem = compileCheck(def.element);
      return (value) => Array.isArray(value) && value.every((item) => isItem(item));
    }
    case "tuple": {
      const items = def.items.map(compileCheck);
      return (value) =>
        Array.isArray(value) &&
        value.length === items.length &&
        items.every((isItem, at) => isItem(value[at]));
    }
    case "object":
      return compileObject(def.shape);
    default:
      throw new Error(`a schema of the kind ${def.type} cannot be compiled`);
  }
}

/** A fact that a value must have besides its kind, as zod describes it. */
type Constraint = { readonly check?: string } & (
  | { readonly check: "min_length"; readonly minimum: number }
  | { readonly check: "max_length"; readonly maximum: number }
  | { readonly check: "greater_than"; readonly value: number; readonly inclusive: boolean }
  | { readonly check: "string_format"; readonly pattern: RegExp }
  | { readonly check: "number_format"; readonly format: string }
);

function compileConstraint(constraint: Constraint): (value: never) => boolean {
  switch (constraint.check) {
    case "min_length":
      return ({ length }: string | unknown[]) => length >= constraint.minimum;
    case "max_length":
      return ({ length }: string | unknown[]) => length <= constraint.maximum;
    case "greater_than":
      return (value: number) =>
        value > constraint.value || (constraint.inclusive && value === constraint.value);
    case "string_format":
      return (value: string) => constraint.pattern.test(value);
    case "number_format":
      if (constraint.format === "safeint") return Number.isSafeInteger;
  }
  throw new Error(`the constraint ${constraint.check} of a schema cannot be compiled`);
}

/** Fields without a schema are rejected. */
function compileObject(shape: Readonly<Record<string, z.core.$ZodType>>): Check {
  const names = Object.keys(shape);
  const checks = createTable(
    Object.fromEntries(Object.entries(shape).map(([name, schema]) => [name, compileCheck(schema)])),
  );
  const required = names.filter((name) => checks[name]?.(undefined) !== true);
  return (value) => {
    const fields = asFields(value);
    if (fields === null) return false;
    for (const name in fields) if (checks[name]?.(fields[name]) !== true) return false;
    return required.every((name) => fields[name] !== undefined);
  };
}
