import { InvalidArgumentError } from "commander";
import { z } from "zod";
import type { Endpoint } from "../../http/api/endpoint.ts";
import type { AnyCommandSpec, OptionSpec } from "./command-spec.ts";

/** The part of a JSON schema that decides how the value of an option is written. */
interface FieldSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly description?: string;
}

/** Fields of a page, which a command follows by itself. */
const PAGING = ["limit", "after"];

/** Returns the options of the fields of an endpoint's query and body that its command does not declare. */
export function deriveOptions({
  endpoint,
  args,
  options,
  settings,
  fixed,
}: AnyCommandSpec): readonly OptionSpec[] {
  const declared = [...(args ?? []), ...(options ?? [])].map(({ field }) => field?.split(".").at(-1));
  const known = new Set<unknown>([
    ...declared,
    ...Object.keys(settings?.of ?? {}),
    ...Object.keys(fixed ?? {}),
  ]);
  const names = [...Object.keys(shapeOf(endpoint.query)), ...Object.keys(shapeOf(endpoint.body))];
  const paging = hasPages(endpoint) ? PAGING : [];
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
  const field = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as FieldSchema;
  const flag = `--${name.replace(/_id$/, "").replaceAll("_", "-")}`;
  const help = (field.description ?? "").replace(/\.$/, "");
  const isRequired = schema.safeParse(undefined).success ? {} : ({ isRequired: true } as const);
  const of = { help, field: name, ...isRequired };
  if (field.type === "boolean") return { ...of, flags: flag };
  const words = field.enum?.filter((word) => typeof word === "string");
  if (words !== undefined) return { ...of, flags: `${flag} <${name}>`, choices: words };
  const [placeholder, read] = FORMATS[field.type ?? ""] ?? FORMATS["json"];
  return { ...of, flags: `${flag} <${placeholder ?? name}>`, read };
}

type Format = readonly [placeholder: string | null, read: (text: string) => unknown];

/** How values are written, by the type of the field. */
const FORMATS: { readonly [type: string]: Format; readonly json: Format } = {
  string: [null, (text) => text],
  number: ["number", readNumber],
  integer: ["number", readNumber],
  array: ["list", (text) => text.split(",").map((item) => item.trim())],
  json: ["json", readJson],
};

/** @throws InvalidArgumentError */
function readNumber(text: string): number {
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a number.");
}

/** Reads JSON. A text that is none stands for itself. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
