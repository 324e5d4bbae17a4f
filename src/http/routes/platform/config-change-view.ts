import { z } from "zod";

/** A setting that a reload or a change of the stored configuration changes. */
export const ConfigChangeView = z
  .object({
    name: z.string().meta({ description: "Path in the configuration.", examples: ["limits.attempts"] }),
    before: z.unknown().describe("The value in force before. Secrets are masked. `null` means it had none."),
    after: z.unknown().describe("The new value."),
    is_secret: z.boolean(),
    needs_restart: z.boolean().describe("Whether the value takes effect only after a restart."),
  })
  .meta({ id: "ConfigChange", description: "A setting that changes." });
