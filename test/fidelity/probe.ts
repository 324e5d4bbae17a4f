import { asFields } from "../../src/base/json/fields.ts";

/** Expects that there is no value at a path. */
export const ABSENT = Symbol("absent");

/**
 * The expected values of a body by path. In a path, `[]` stands for any element of a list, one of which must match. An object matches
 * if the named members match; a regular expression matches a text that contains a match.
 */
export type Expected = Readonly<Record<string, unknown>>;

/** Whether a body has all expected values. */
export function holds(body: unknown, expected: Expected): boolean {
  return Object.entries(expected).every(([path, value]) => {
    const found = findAll(body, path.split(/\.|(?=\[)/));
    return value === ABSENT ? found.length === 0 : found.some((actual) => matches(value, actual));
  });
}

function findAll(value: unknown, steps: readonly string[]): unknown[] {
  const [step, ...rest] = steps;
  if (step === undefined) return value === undefined ? [] : [value];
  if (step === "[]") return Array.isArray(value) ? value.flatMap((item) => findAll(item, rest)) : [];
  const key = step.startsWith("[") ? step.slice(1, -1) : step;
  const fields = Array.isArray(value) ? (value as unknown as Record<string, unknown>) : asFields(value);
  return fields === null ? [] : findAll(fields[key], rest);
}

function matches(expected: unknown, actual: unknown): boolean {
  if (expected === ABSENT) return actual === undefined;
  if (expected instanceof RegExp) return typeof actual === "string" && expected.test(actual);
  if (Array.isArray(expected)) {
    const list = Array.isArray(actual) ? actual : [];
    return expected.length === list.length && expected.every((item, at) => matches(item, list[at]));
  }
  const fields = asFields(expected);
  if (fields === null) return Object.is(expected, actual);
  const found = asFields(actual);
  return found !== null && Object.entries(fields).every(([key, value]) => matches(value, found[key]));
}
