import { z } from "zod";
import type { Endpoint } from "../../http/api/endpoint.ts";
import type { InputSpec, OptionSpec } from "./command-spec.ts";
import { KNOWN_FIELDS } from "./known-fields.ts";

/** The part of a JSON schema that decides how the value of an option is written. */
interface FieldSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly anyOf?: readonly FieldSchema[];
}

/** The fields of paging, which commands handle themselves. */
const PAGING = ["limit", "after"];

/** Returns the options of the fields of an endpoint's query and body that its command does not declare. */
export function deriveOptions({
  endpoint,
  args,
  options,
  settings,
  fixed,
  rows,
}: InputSpec): readonly OptionSpec[] {
  // A parameter of the path may have the name of a field.
  const declared = [...(args ?? []), ...(options ?? [])].map(({ field }) =>
    field?.replace(/^(body|query)\./, ""),
  );
  const known = new Set<unknown>([
    ...declared,
    ...Object.keys(settings?.of ?? {}),
    ...Object.keys(fixed ?? {}),
  ]);
  const names = [...Object.keys(shapeOf(endpoint.query)), ...Object.keys(shapeOf(endpoint.body))];
  const paging = hasPages(endpoint) || rows !== undefined ? PAGING : [];
  return [...new Set(names)]
    .filter((name) => !known.has(name) && !paging.includes(name))
    .map((name) => deriveOption(name, schemaOf(endpoint, name)));
}

/** Returns the fields of an object's schema; of another schema none. */
export function shapeOf(schema: z.ZodType): Readonly<Record<string, z.ZodType>> {
  return schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : {};
}

/** Returns whether an endpoint answers with pages of a list. */
export function hasPages({ query, response }: Endpoint): boolean {
  return "after" in shapeOf(query) && "next" in shapeOf(response);
}

function schemaOf({ query, body }: Endpoint, name: string): z.ZodType {
  return (shapeOf(query)[name] ?? shapeOf(body)[name]) as z.ZodType;
}

function deriveOption(name: string, schema: z.ZodType): OptionSpec {
  const whole = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as FieldSchema;
  // Whether a field may be null makes no difference: leaving the option out means the same.
  const others = whole.anyOf?.filter(({ type }) => type !== "null") ?? [];
  const field = others.length === 1 ? { ...others[0], ...whole } : whole;
  const help = (field.description ?? "").replace(/\.$/, "");
  const isRequired = schema.safeParse(undefined).success ? {} : ({ isRequired: true } as const);
  const flag = `--${name.replace(/_id$/, "").replaceAll("_", "-")}`;
  const isText = field.type === "string" || field.enum !== undefined;
  const placeholder = isText ? name : (PLACEHOLDERS[field.type ?? ""] ?? "json");
  return {
    flags: field.type === "boolean" ? flag : `${flag} <${placeholder}>`,
    ...(isText || field.type === "boolean" ? {} : { read: field.type === "array" ? readList : readJson }),
    ...KNOWN_FIELDS[name],
    ...{ help, field: name },
    ...isRequired,
  };
}

const PLACEHOLDERS: Readonly<Record<string, string>> = { integer: "number", number: "number", array: "list" };

function readList(text: string): readonly string[] {
  return text.split(",").map((item) => item.trim());
}

/** Reads a number or JSON. Any other text is returned unchanged, and the endpoint rejects it. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
