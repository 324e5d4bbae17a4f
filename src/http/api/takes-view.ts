import { z } from "zod";
import { TAKES_SOURCES } from "../../core/catalog/records/records.ts";

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** What an endpoint takes of a parameter, in a response (`presentTakes`). */
export const TakesView = z
  .object({
    parameter: z.string().describe("Name of the parameter in chat completions."),
    taken: z
      .enum(["yes", "no", "some"])
      .describe("`no`: it is left out. `some`: what the other fields say. `yes`: the configuration says so."),
    values: z
      .array(scalar)
      .optional()
      .describe("The only values that are taken; others are left out. Empty: none is."),
    min: z.number().optional().describe("Lower numbers are raised to it."),
    max: z.number().optional().describe("Higher numbers are lowered to it."),
    list: z.literal(true).optional().describe("A single text is sent as a list."),
    while_reasoning: z.literal(true).optional().describe("The rule holds only while the model reasons."),
    not_with: z
      .object({ parameter: z.string(), values: z.array(scalar).optional() })
      .optional()
      .describe("It is left out beside this parameter, or beside these values of it."),
    source: z
      .enum(TAKES_SOURCES)
      .describe(
        "Who says so: the API format, the provider, the model, its family, or the configuration of this gateway.",
      ),
  })
  .meta({ id: "TakenParameter", description: "What an endpoint takes of a parameter, and who says so." });
