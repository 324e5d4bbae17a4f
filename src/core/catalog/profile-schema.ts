import { z } from "zod";
import type { FamilyProfile } from "./records.ts";

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const parameterRule = z
  .strictObject({
    values: z.array(scalar).optional(),
    min: z.number().optional(),
    max: z.number().optional(),
    list: z.literal(true).optional(),
    whileReasoning: z.literal(true).optional(),
    notWith: z
      .strictObject({ parameter: z.string().min(1), values: z.array(scalar).min(1).optional() })
      .optional(),
  })
  .refine(
    ({ values, min, max, list, notWith }) =>
      [notWith ?? values, min ?? max, list].filter((part) => part !== undefined).length === 1,
    "needs either values, or min and max, or list, or notWith, which may have values too",
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
      source: z.string().min(1),
    })
    .refine(
      ({ parameters, reasonsByDefault, forcedTools, unsignedThinking }) =>
        (parameters ?? reasonsByDefault ?? forcedTools ?? unsignedThinking) !== undefined,
      "says nothing",
    ),
) as z.ZodType<FamilyProfile[]>;
