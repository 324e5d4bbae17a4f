import type { ModelRecord } from "./records.ts";

/** Whether a model may produce reasoning, as far as the catalog tells. */
export function mayReason({ reasoning, supportedParameters }: ModelRecord): boolean {
  return reasoning !== undefined || supportedParameters.includes("reasoning");
}
