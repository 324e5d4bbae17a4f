import { asFields } from "../../../src/wire/json/fields.ts";
import type { SchemaDialect } from "../../../src/wire/json-schema/dialects.ts";

/** What each dialect's documentation lists; `$`-keywords where it takes references. */
const LISTED: Record<SchemaDialect, RegExp | null> = {
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

const CLOSED: readonly SchemaDialect[] = ["openai-strict", "anthropic-output"];

/** What about a schema the vendor would refuse; empty where it fits. */
export function findMisfits(schema: unknown, dialect: SchemaDialect, path = "", isRoot = true): string[] {
  const fields = asFields(schema);
  if (fields === null) return [`${path}: not an object`];
  const misfits: string[] = [];
  const rootIsObject = dialect !== "gemini-output";
  if (isRoot && rootIsObject && fields["type"] !== "object") misfits.push(`${path}: root is no object`);
  if (isRoot && rootIsObject && ["anyOf", "oneOf", "allOf"].some((key) => key in fields)) {
    misfits.push(`${path}: alternatives at the root`);
  }
  const listed = LISTED[dialect];
  if (listed === null) return misfits;
  misfits.push(
    ...Object.keys(fields)
      .filter((key) => !listed.test(key))
      .map((key) => `${path}.${key}`),
  );
  const properties = asFields(fields["properties"]) ?? {};
  const required = (fields["required"] ?? []) as string[];
  if (required.some((name) => !Object.hasOwn(properties, name))) misfits.push(`${path}: required unknown`);
  if (dialect.startsWith("gemini") && Array.isArray(fields["enum"])) {
    if (!fields["enum"].every((value) => ["string", "number"].includes(typeof value)))
      misfits.push(`${path}: enum`);
  }
  if (CLOSED.includes(dialect) && [fields["type"]].flat().includes("object")) {
    if (fields["additionalProperties"] !== false) misfits.push(`${path}: open`);
  }
  const mayBeObject = fields["type"] === undefined || [fields["type"]].flat().includes("object");
  if (dialect === "openai-strict" && mayBeObject && required.length !== Object.keys(properties).length) {
    misfits.push(`${path}: not all required`);
  }
  if (
    typeof fields["$ref"] === "string" &&
    Object.keys(fields).some((key) => !key.startsWith("$") && key !== "definitions")
  ) {
    misfits.push(`${path}: beside a reference`);
  }
  const inside: [string, unknown][] = [
    ...["properties", "$defs", "definitions"].flatMap((key) => Object.entries(asFields(fields[key]) ?? {})),
    ...["anyOf", "prefixItems"].flatMap((key) => Object.entries((fields[key] ?? []) as unknown[])),
  ];
  if (fields["items"] !== undefined) inside.push(["items", fields["items"]]);
  if (asFields(fields["additionalProperties"]) !== null) inside.push(["*", fields["additionalProperties"]]);
  return [...misfits, ...inside.flatMap(([key, sub]) => findMisfits(sub, dialect, `${path}.${key}`, false))];
}
