import { z } from "zod";
import type { KeyTrial } from "./try-provider-key.ts";

/** The outcome of a test call with a provider key, in a response. */
export const KeyTrialView = z.object({
  status: z
    .enum(["ok", "refused", "out_of_reach"])
    .describe(
      "Result of the test. `refused`: the provider rejected the key, or its account there has no credit. `out_of_reach`: the provider could not be reached, or failed.",
    ),
  message: z.string(),
  model: z.string().nullable().describe("Id of the model that was called. `null` means none was."),
  latency_ms: z
    .number()
    .nullable()
    .describe("Milliseconds until the provider answered or failed. `null` means it was not called."),
  upstream_status: z
    .int()
    .nullable()
    .describe("HTTP status of the provider. `null` if it answered, or sent no status."),
  upstream_message: z
    .string()
    .nullable()
    .describe("The provider's own message about the failure, without secrets. `null` if there was none."),
});

/** Returns the outcome of a test call, as the API shows it. */
export function presentTrial(trial: KeyTrial): z.infer<typeof KeyTrialView> {
  const { status, message, model, latencyMs, upstreamStatus, upstreamMessage } = trial;
  return {
    status,
    message,
    model,
    latency_ms: latencyMs,
    upstream_status: upstreamStatus,
    upstream_message: upstreamMessage,
  };
}
