import { type ImportRules, parseImportRules } from "../../src/core/catalog/refresh/import-rules.ts";

/** Returns a model in the source's format, with defaults for absent fields. */
export function sourceModel(id: string, rest: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id,
    name: id,
    attachment: false,
    reasoning: false,
    tool_call: true,
    temperature: true,
    structured_output: true,
    release_date: "2025-04-28",
    cost: { input: 1, output: 2 },
    limit: { context: 1000, output: 100 },
    modalities: { input: ["text"], output: ["text"] },
    ...rest,
  };
}

/** Returns the text of a source: models by provider, as an array or, as in the public list, as an object by id. */
export function sourceText(
  providers: Record<string, Record<string, unknown>[]>,
  shape: "array" | "object" = "array",
): string {
  const list = Object.entries(providers).map(([id, models]) => [
    id,
    {
      id,
      name: id,
      env: [`${id.toUpperCase()}_API_KEY`],
      models: shape === "array" ? models : Object.fromEntries(models.map((model) => [model["id"], model])),
    },
  ]);
  return JSON.stringify(Object.fromEntries(list));
}

/** The shipped import rules. */
export const shippedRules: ImportRules = parseImportRules(
  await Bun.file(new URL("../../catalog/import-rules.json", import.meta.url)).text(),
);

/** The shipped rules without the models that every import adds, so that only the source determines the result. */
export const rulesForSource: ImportRules = { ...shippedRules, further: [] };
