import { z } from "zod";
import { mayBeDeep } from "../../wire/json/parse-json.ts";
import { JsonBoundError, LEAF, scanJson } from "../../wire/json/scan.ts";

/** A number as its text in the source. */
const digits = z.string().regex(/^-?\d/);

/** The schema of one model of the source. */
export const sourceModelSchema = z.object({
  id: z.string().min(1),
  name: z.string().min(1),
  family: z.string().optional(),
  release_date: z.string().optional(),
  reasoning: z.boolean().default(false),
  reasoning_options: z
    .array(
      z.object({
        type: z.string(),
        values: z.array(z.string().nullable()).optional(),
        min: digits.optional(),
        max: digits.optional(),
      }),
    )
    .optional(),
  tool_call: z.boolean().default(false),
  temperature: z.boolean().optional(),
  structured_output: z.boolean().optional(),
  status: z.string().optional(),
  limit: z.object({ context: digits, output: digits.optional(), input: digits.optional() }),
  modalities: z.object({ input: z.array(z.string()), output: z.array(z.string()) }),
  cost: z.record(z.string(), z.unknown()).optional(),
  provider: z.object({ npm: z.string().optional() }).optional(),
});

const providerSchema = z.object({
  name: z.string().optional(),
  models: z.union([z.array(z.unknown()), z.record(z.string(), z.unknown())]),
});

const sourceSchema = z.record(z.string(), providerSchema);

/** A model of the source. Numbers are text. */
export type SourceModel = z.infer<typeof sourceModelSchema>;

/** A provider of the source with its models. */
export interface SourceProvider {
  readonly id: string;
  readonly models: readonly SourceModel[];
}

/** The parsed source, or why it was rejected as a whole. A model that cannot be read is a problem and is omitted. */
export type SourceRead =
  | { readonly providers: readonly SourceProvider[]; readonly problems: readonly string[] }
  | { readonly rejected: string };

/** Parses the list of models.dev. A provider's models are an array or an object by id. */
export function readModelsDev(text: string): SourceRead {
  const excess = findExcess(text);
  if (excess !== null) return { rejected: excess };
  const json = parseKeepingDigits(text);
  if (json === undefined) return { rejected: describeInvalidJson(text) };
  const source = sourceSchema.safeParse(json);
  if (!source.success)
    return { rejected: `is JSON, but not a list of providers with models: ${describeIssue(source.error)}` };
  const problems: string[] = [];
  const providers = Object.entries(source.data).map(([id, provider]) => ({
    id,
    models: readModels(id, Object.values(provider.models), problems),
  }));
  if (!providers.some((provider) => provider.models.length > 0)) return { rejected: "lists no models" };
  return { providers, problems };
}

/** The most objects of a source, of which each model has several; the public list has about 40,000. */
const MAX_OBJECTS = 200_000;

/** Returns why a source is too large or nested too deep to be parsed; null if it is not. */
function findExcess(text: string): string | null {
  let objects = 0;
  for (let at = text.indexOf("{"); at >= 0; at = text.indexOf("{", at + 1))
    if (++objects > MAX_OBJECTS)
      return `has more than ${MAX_OBJECTS} objects, which are more than any list of models has`;
  try {
    if (mayBeDeep(text)) scanJson(text, LEAF);
  } catch (error) {
    if (error instanceof JsonBoundError) return `has ${error.message}`;
  }
  return null;
}

function readModels(provider: string, entries: readonly unknown[], problems: string[]): SourceModel[] {
  const models: SourceModel[] = [];
  for (const entry of entries) {
    const model = sourceModelSchema.safeParse(entry);
    if (model.success) models.push(model.data);
    else problems.push(`${provider}/${nameEntry(entry)}: not read: ${describeIssue(model.error)}`);
  }
  return models;
}

function nameEntry(entry: unknown): string {
  const id =
    typeof entry === "object" && entry !== null ? (entry as Record<string, unknown>)["id"] : undefined;
  return typeof id === "string" ? id : "(no id)";
}

function describeIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  return issue === undefined ? "unknown" : `${issue.path.join(".") || "the file"}: ${issue.message}`;
}

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

/** Parses JSON with every number as its source text. Returns undefined if it is not JSON. */
function parseKeepingDigits(text: string): unknown {
  const keepDigits: Reviver = (_key, value, context) =>
    typeof value === "number" ? (context?.source ?? String(value)) : value;
  try {
    return JSON.parse(text, keepDigits);
  } catch {
    return undefined;
  }
}

function describeInvalidJson(text: string): string {
  const start = text.trimStart();
  if (start === "") return "is empty";
  if (start.startsWith("<")) return "is a web page, not JSON";
  if (start.startsWith("{")) return "is not JSON; it seems cut off or damaged";
  return "is not JSON";
}
