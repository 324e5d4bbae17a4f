import { z } from "zod";
import { ROUTE_KINDS } from "../../core/usage/records/route-step.ts";

/** How named routes led from a requested name to a model or tier (`presentStep`). */
export const NamedRouteSteps = z
  .array(
    z.object({
      name: z.string().describe("Name of the named route."),
      kind: z.enum(ROUTE_KINDS),
      version: z
        .int()
        .nullable()
        .describe("Version of the route. `null` means it is defined in the configuration file."),
      scope: z
        .enum(["gateway", "account"])
        .describe("Whether the route belongs to the operator or to the account."),
      to: z.string().describe("The name or id that it led to."),
      provider: z
        .string()
        .optional()
        .describe("The only provider that may answer. Only in route explanations."),
      draw: z
        .object({
          by: z.enum(["session", "request"]),
          order: z
            .array(z.object({ model: z.string(), weight: z.int(), provider: z.string().optional() }))
            .describe("Targets in the order in which they are used."),
        })
        .optional()
        .describe("How a group chose. Only in route explanations."),
    }),
  )
  .describe(
    "Named routes that led from the requested name to the first model or tier. Empty if a model or tier was requested.",
  );
