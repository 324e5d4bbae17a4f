import { z } from "zod";
import type { ParameterRule } from "../../../wire/conversation/parameter-rules.ts";

/**
 * What is taken of a parameter: every value (`yes`), no value (`no`), or what a rule says. Parts of values that are not taken are left out
 * of requests, or limited, and named in a warning.
 */
export type TakenParameter = "yes" | "no" | ParameterRule;

/** What is taken of parameters, by the names of the chat API. */
export type TakenParameters = Readonly<Record<string, TakenParameter>>;

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
 * A rule has exactly one of these: `values`, a range of `min` and `max`, `list`, or `notWith`, whose `values` are those that are accepted beside the
 * other parameter. `notWith` is spelled differently in the configuration.
 */
interface RuleParts {
  readonly values?: unknown;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly list?: unknown;
  readonly notWith?: unknown;
}

/** Whether a rule says one thing, and a range is not empty. */
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
) as z.ZodType<TakenParameters>;

const patterns = z.array(z.string().min(1)).min(1);

/** The schema of an element of `catalog/profiles.json`. Of several that match a model, later ones change earlier ones. */
export const familySchema = z
  .strictObject({
    /** Patterns of model ids with `*`. A new model of the family matches them too. */
    models: patterns,
    /** Patterns of ids that do not belong to the family, such as those of older models. */
    except: patterns.optional(),
    /** The providers at which it is so. Absent: all. */
    providers: patterns.optional(),
    parameters: takenParametersSchema.optional(),
    /** Whether the models reason if a request does not say. Absent: they do. */
    reasonsByDefault: z.boolean().optional(),
    /** When a model can be made to call a tool: only while it does not reason, or never. Absent: always. */
    forcedTools: z.enum(["without-reasoning", "never"]).optional(),
    /** False: thinking of earlier turns without a signature is rejected, because another model made it. Absent: it is taken. */
    unsignedThinking: z.boolean().optional(),
    /** Chat format: calls of earlier turns without reasoning are rejected. Absent: they are taken. */
    needsReasoning: z.boolean().optional(),
    /** OpenAI's formats: `prompt_cache_breakpoint` is taken. Absent: not. */
    cacheBreakpoints: z.boolean().optional(),
    /** Which texts without a word are rejected. Absent: none. */
    blankTexts: z.enum(["none", "spaces"]).optional(),
    /** Where the vendor says so, and the day. */
    source: z.string().min(1),
  })
  .refine(
    ({ models: _models, except: _except, providers: _providers, source: _source, ...facts }) =>
      Object.values(facts).some((fact) => fact !== undefined),
    "says nothing",
  );
