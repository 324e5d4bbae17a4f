import type { ModelRecord } from "./records.ts";

/** Whether a model may produce reasoning according to the catalog. */
export function mayReason({ reasoning, supportedParameters }: ModelRecord): boolean {
  return reasoning !== undefined || supportedParameters.includes("reasoning");
}
