import { z } from "zod";
import { TAKES_SOURCES } from "../../core/catalog/records/records.ts";

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** The view of a statement about a parameter that an endpoint takes, in a response (`presentTakes`). */
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
