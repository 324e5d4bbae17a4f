import { z } from "zod";
import { describeIssue, parseSource } from "./parse-source.ts";

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
type SourceRead =
  | { readonly providers: readonly SourceProvider[]; readonly problems: readonly string[] }
  | { readonly rejected: string };

/** Parses the list of models.dev. A provider's models are an array or an object by id. */
export function readModelsDev(text: string): SourceRead {
  const parsed = parseSource(text);
  if ("rejected" in parsed) return parsed;
  const source = sourceSchema.safeParse(parsed.json);
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
