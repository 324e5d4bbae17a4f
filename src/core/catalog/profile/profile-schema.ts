import { z } from "zod";
import type { FamilyProfile } from "../records/records.ts";

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** Which part of the others a rule has is checked by `isSoundRule`. */
export const parameterRuleShape = {
  values: z.array(scalar).optional(),
  min: z.number().optional(),
  max: z.number().optional(),
  list: z.literal(true).optional(),
  whileReasoning: z.literal(true).optional(),
  notWith: z
    .strictObject({ parameter: z.string().min(1), values: z.array(scalar).min(1).optional() })
    .optional(),
};

/**
 * A rule has exactly one of these: `values`, a range of `min` and `max`, `list`, or `notWith`, with the `values` that are accepted together
 * with the other parameter. The configuration spells `notWith` differently.
 */
interface RuleParts {
  readonly values?: unknown;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly list?: unknown;
  readonly notWith?: unknown;
}

/** Whether a rule makes exactly one statement, and its range is not empty. */
export function isSoundRule({ values, min, max, list, notWith }: RuleParts): boolean {
  const parts = [notWith ?? values, min ?? max, list].filter((part) => part !== undefined);
  return parts.length === 1 && (min === undefined || max === undefined || min <= max);
}

const parameterRule = z
  .strictObject(parameterRuleShape)
  .refine(
    isSoundRule,
    "needs either values, or min and max, or list, or notWith, which may have values too; min must not exceed max",
  );

/** The schema of what is taken of parameters: in `catalog/providers.json` and `catalog/profiles.json`. */
export const takenParametersSchema = z.record(
  z.string().min(1),
  z.union([z.literal("yes"), z.literal("no"), parameterRule]),
);

const patterns = z.array(z.string().min(1)).min(1);

/** The schema of `catalog/profiles.json`. */
export const familiesSchema = z.array(
  z
    .strictObject({
      models: patterns,
      except: patterns.optional(),
      providers: patterns.optional(),
      parameters: takenParametersSchema.optional(),
      reasonsByDefault: z.boolean().optional(),
      forcedTools: z.enum(["without-reasoning", "never"]).optional(),
      unsignedThinking: z.boolean().optional(),
      needsReasoning: z.boolean().optional(),
      cacheBreakpoints: z.boolean().optional(),
      blankTexts: z.enum(["none", "spaces"]).optional(),
      source: z.string().min(1),
    })
    .refine(
      ({ models: _models, except: _except, providers: _providers, source: _source, ...facts }) =>
        Object.values(facts).some((fact) => fact !== undefined),
      "says nothing",
    ),
) as z.ZodType<FamilyProfile[]>;
