import type { EncodedForUpstream } from "../../wire/client-apis/inference-request.ts";
import type { Warning } from "../../wire/conversation/warning.ts";
import { presentRepairs } from "../usage/work-record.ts";

/** Returns the `gateway_metadata` of an answer: repairs of its request and warnings. Null if there are none. */
export function describeWork(
  { repair, warnings: ofEncoding }: EncodedForUpstream,
  ofAdmission: readonly Warning[],
): Record<string, unknown> | null {
  const warnings = [...ofAdmission, ...ofEncoding];
  if (repair === null && warnings.length === 0) return null;
  return {
    ...(repair === null ? {} : { repairs: presentRepairs(repair.counts) }),
    ...(warnings.length === 0
      ? {}
      : { warnings: warnings.map(({ field, message }) => ({ field, message })) }),
  };
}

/** Adds a warning that is known only at the end of an answer to its `gateway_metadata`. */
export function addWarning(
  metadata: Readonly<Record<string, unknown>> | null,
  warning: Warning | null,
): Readonly<Record<string, unknown>> | null {
  if (warning === null) return metadata;
  const before = metadata?.["warnings"];
  return { ...metadata, warnings: [...(Array.isArray(before) ? before : []), warning] };
}
