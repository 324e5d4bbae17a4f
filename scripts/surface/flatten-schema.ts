import type { Entry } from "./entry.ts";

type Schema = Readonly<Record<string, unknown>>;

const UNIONS = ["anyOf", "oneOf", "allOf"] as const;

/** Keywords that explain, and those whose parts are described elsewhere. */
const SKIPPED = new Set([
  "$schema",
  "title",
  "description",
  "examples",
  "example",
  "properties",
  "required",
  "items",
  "additionalProperties",
  "propertyNames",
  ...UNIONS,
]);

/** Lists what a JSON Schema promises: an entry for itself, and one for each part of it. */
export function* flattenSchema(
  schema: unknown,
  path: readonly string[],
  isRequired = true,
): Generator<Entry> {
  if (typeof schema !== "object" || schema === null) {
    yield { path, value: String(schema) };
    return;
  }
  const own = schema as Schema;
  yield { path, value: [describe(own), ...(isRequired ? [] : ["optional"])].filter(Boolean).join(", ") };
  const required = new Set((own["required"] as readonly string[] | undefined) ?? []);
  for (const [name, member] of Object.entries(membersOf(own)))
    yield* flattenSchema(member, [...path, name], required.has(name));
  if (own["items"] !== undefined) yield* flattenSchema(own["items"], [...path, "[]"]);
  if (typeof own["additionalProperties"] === "object")
    yield* flattenSchema(own["additionalProperties"], [...path, "*"]);
  for (const keyword of UNIONS)
    for (const [index, member] of choicesOf(own, keyword).entries())
      if (!isPlain(member)) yield* flattenSchema(member, [...path, `${keyword} ${index + 1}`]);
}

function membersOf(schema: Schema): Schema {
  return (schema["properties"] as Schema | undefined) ?? {};
}

function choicesOf(schema: Schema, keyword: string): readonly Schema[] {
  return (schema[keyword] as readonly Schema[] | undefined) ?? [];
}

/** Whether a schema has no parts, so that it is described where it stands. */
function isPlain(schema: Schema): boolean {
  const hasParts = ["properties", "items", ...UNIONS].some((keyword) => schema[keyword] !== undefined);
  return !hasParts && typeof schema["additionalProperties"] !== "object";
}

function describe(schema: Schema): string {
  const { $ref, type, additionalProperties, ...rest } = schema;
  const parts = typeof $ref === "string" ? [$ref.split("/").at(-1) as string] : [];
  if (type !== undefined) parts.push([type].flat().join(" or "));
  if (additionalProperties === false) parts.push("no other members");
  for (const [keyword, value] of Object.entries(rest))
    if (!SKIPPED.has(keyword) && !keyword.startsWith("x-")) parts.push(`${keyword} ${JSON.stringify(value)}`);
  for (const keyword of UNIONS) {
    const plain = choicesOf(schema, keyword).filter(isPlain).map(describe);
    if (plain.length > 0) parts.push(`${keyword} ${plain.join(" | ")}`);
  }
  return parts.join(", ");
}
