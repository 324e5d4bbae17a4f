import type { EncodedForUpstream } from "../../wire/client-apis/inference-request.ts";
import type { RepairCounts } from "../../wire/conversation/outline.ts";
import type { Warning } from "../../wire/conversation/warning.ts";

/** Returns the `gateway_metadata` of an answer: repairs of its request and warnings. Null if there are none. */
export function describeWork(
  { repair, warnings: ofEncoding }: EncodedForUpstream,
  ofAdmission: readonly Warning[],
): Record<string, unknown> | null {
  const warnings = [...ofAdmission, ...ofEncoding];
  if (repair === null && warnings.length === 0) return null;
  return {
    ...(repair === null ? {} : { repairs: describeRepairs(repair.counts) }),
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

function describeRepairs(counts: RepairCounts): Record<string, number> {
  return {
    duplicate_calls_removed: counts.duplicateCallsRemoved,
    orphan_results_removed: counts.orphanResultsRemoved,
    placeholders_added: counts.placeholdersAdded,
    ids_mapped: counts.idsMapped,
  };
}
