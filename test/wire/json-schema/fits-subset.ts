import { asFields } from "../../../src/base/json/fields.ts";
import type { SchemaSubset } from "../../../src/wire/json-schema/subsets.ts";

/** The documented keywords of each subset; null: all. */
const LISTED: Record<SchemaSubset, RegExp | null> = {
  gemini:
    /^(type|format|title|description|default|enum|(prefixI|i)tems|(min|max)(Items|imum|Length|Properties)|pattern|anyOf|properties|additionalProperties|required|propertyOrdering)$/,
  "gemini-output":
    /^(type|format|title|description|default|enum|(prefixI|i)tems|(min|max)(Items|imum|Length|Properties)|pattern|anyOf|properties|additionalProperties|required|propertyOrdering)$/,
  bedrock: null,
  "openai-strict":
    /^(type|enum|const|properties|required|additionalProperties|items|anyOf|\$ref|\$defs|definitions|title|description|pattern|format|multipleOf|(min|max)(Items|imum)|exclusiveM(in|ax)imum)$/,
  cohere: null,
  "cohere-output":
    /^(type|enum|const|default|properties|required|additionalProperties|items|anyOf|\$ref|\$defs|definitions|title|description|pattern|format)$/,
  "anthropic-output":
    /^(type|enum|const|default|properties|required|additionalProperties|items|minItems|anyOf|title|description|pattern|format)$/,
};

const CLOSED: readonly SchemaSubset[] = ["openai-strict", "anthropic-output"];

/** Lists what the vendor would reject in a schema; empty if the schema is within the subset. */
export function findMisfits(schema: unknown, subset: SchemaSubset, path = "", isRoot = true): string[] {
  const fields = asFields(schema);
  if (fields === null) return [`${path}: not an object`];
  const misfits: string[] = [];
  const rootIsObject = subset !== "gemini-output";
  if (isRoot && rootIsObject && fields["type"] !== "object") misfits.push(`${path}: root is not an object`);
  if (isRoot && rootIsObject && ["anyOf", "oneOf", "allOf"].some((key) => key in fields)) {
    misfits.push(`${path}: alternatives at the root`);
  }
  const listed = LISTED[subset];
  if (listed === null) return misfits;
  misfits.push(
    ...Object.keys(fields)
      .filter((key) => !listed.test(key))
      .map((key) => `${path}.${key}`),
  );
  const properties = asFields(fields["properties"]) ?? {};
  const required = (fields["required"] ?? []) as string[];
  if (required.some((name) => !Object.hasOwn(properties, name))) misfits.push(`${path}: required unknown`);
  if (subset.startsWith("gemini") && Array.isArray(fields["enum"])) {
    if (!fields["enum"].every((value) => ["string", "number"].includes(typeof value)))
      misfits.push(`${path}: enum`);
  }
  if (CLOSED.includes(subset) && [fields["type"]].flat().includes("object")) {
    if (fields["additionalProperties"] !== false) misfits.push(`${path}: open`);
  }
  const mayBeObject = fields["type"] === undefined || [fields["type"]].flat().includes("object");
  if (subset === "openai-strict" && mayBeObject && required.length !== Object.keys(properties).length) {
    misfits.push(`${path}: not all required`);
  }
  if (
    typeof fields["$ref"] === "string" &&
    Object.keys(fields).some((key) => !key.startsWith("$") && key !== "definitions")
  ) {
    misfits.push(`${path}: next to a reference`);
  }
  const inside: [string, unknown][] = [
    ...["properties", "$defs", "definitions"].flatMap((key) => Object.entries(asFields(fields[key]) ?? {})),
    ...["anyOf", "prefixItems"].flatMap((key) => Object.entries((fields[key] ?? []) as unknown[])),
  ];
  if (fields["items"] !== undefined) inside.push(["items", fields["items"]]);
  if (asFields(fields["additionalProperties"]) !== null) inside.push(["*", fields["additionalProperties"]]);
  return [...misfits, ...inside.flatMap(([key, sub]) => findMisfits(sub, subset, `${path}.${key}`, false))];
}
