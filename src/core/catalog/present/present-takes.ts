import { z } from "zod";
import { type ParameterStatement, type Stored, TAKES_SOURCES } from "../records/records.ts";

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** What an endpoint takes of a parameter, in responses. The members of a rule are those of the configuration. */
export const TakesView = z
  .object({
    parameter: z.string().describe("Name of the parameter in chat completions."),
    taken: z
      .enum(["yes", "no", "some"])
      .describe("`no`: it is left out. `some`: what the other fields say. `yes`: the configuration says so."),
    values: z
      .array(scalar)
      .optional()
      .describe(
        "The only accepted values; others are left out. An empty list means that no value is accepted.",
      ),
    min: z.number().optional().describe("Lower numbers are raised to it."),
    max: z.number().optional().describe("Higher numbers are lowered to it."),
    list: z.literal(true).optional().describe("A single text is sent as a list."),
    while_reasoning: z.literal(true).optional().describe("The rule holds only while the model reasons."),
    not_with: z
      .object({ parameter: z.string(), values: z.array(scalar).optional() })
      .optional()
      .describe("It is left out if the request has this other parameter, or these values of it."),
    source: z
      .enum(TAKES_SOURCES)
      .describe(
        "Source of the rule: the API format, the provider, the model, its family, or the configuration of this gateway.",
      ),
  })
  .meta({
    id: "TakenParameter",
    description: "The values of a parameter that an endpoint accepts, and the source of the rule.",
  });

/** Presents what an endpoint takes of parameters. A rule without any value is a refusal. */
export function presentTakes(
  statements: readonly ParameterStatement[],
): readonly Stored<z.infer<typeof TakesView>>[] {
  return statements.map(({ parameter, taken, source }) => {
    if (typeof taken === "string") return { parameter, taken, source };
    const { values, min, max, list, whileReasoning, notWith } = taken;
    if (values?.length === 0 && whileReasoning === undefined) return { parameter, taken: "no", source };
    return {
      parameter,
      taken: "some",
      ...(values === undefined ? {} : { values }),
      ...(min === undefined ? {} : { min }),
      ...(max === undefined ? {} : { max }),
      ...(list === undefined ? {} : { list }),
      ...(whileReasoning === undefined ? {} : { while_reasoning: whileReasoning }),
      ...(notWith === undefined ? {} : { not_with: notWith }),
      source,
    };
  });
}
