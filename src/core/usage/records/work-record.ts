import type { RepairCounts } from "../../../wire/conversation/calls/outline.ts";
import type { GuardrailNote, Warning } from "../../../wire/conversation/warning.ts";
import { recordText } from "./record-text.ts";

/** A warning, as recorded. */
interface RecordedWarning {
  /** The field in the client's terms: `logit_bias`. Without zero data retention also its position: `messages[3].content[1]`. */
  readonly field: string;
  /** What was done about it; null under zero data retention, because it may quote the request. */
  readonly message: string | null;
  /** What a guardrail did, if the warning is about one; absent in records of version 0.2 and earlier. */
  readonly guardrail?: GuardrailNote;
}

/** The repairs and changes that the gateway made in a request or its answer, as `gateway_metadata` shows them to the client. */
export interface WorkRecord {
  readonly repairs?: RepairCounts;
  readonly warnings?: readonly RecordedWarning[];
  /** Where the gateway marked the prompt for the vendor's cache. */
  readonly cacheMarks?: readonly CacheMarkName[];
}

/** The marked part of a prompt: instructions and tools, or the latest turns. */
export type CacheMarkName = "shared" | "turns";

/** Nothing was marked. */
export const NO_MARKS: readonly CacheMarkName[] = [];

/** The maximum number of warnings in a record. */
const MAX_WARNINGS = 20;
const MAX_CHARS = 200;

/** The work that was done for a request. */
interface Work {
  /** Repairs of its tool calls; null if there were none. */
  readonly repairs: RepairCounts | null;
  readonly warnings: readonly Warning[];
  /** Absent: nothing. */
  readonly cacheMarks?: readonly CacheMarkName[];
}

/** Returns the record of work; undefined if there was none. Under zero data retention it names only the fields. */
export function recordWork(
  { repairs, warnings, cacheMarks = NO_MARKS }: Work,
  { zeroRetention }: { readonly zeroRetention: boolean },
): WorkRecord | undefined {
  if (repairs === null && warnings.length === 0 && cacheMarks.length === 0) return undefined;
  const recorded = warnings
    .slice(0, MAX_WARNINGS)
    .map((warning) => (zeroRetention ? withoutContent(warning) : recordWarning(warning)));
  return {
    ...(repairs === null ? {} : { repairs }),
    ...(recorded.length === 0 ? {} : { warnings: recorded }),
    ...(cacheMarks.length === 0 ? {} : { cacheMarks }),
  };
}

/** Adds a few warnings in the gateway's own words, which are known only at the end of an answer. */
export function addOwnWarnings(work: WorkRecord | undefined, warnings: readonly Warning[]): WorkRecord {
  const before = work?.warnings ?? [];
  return {
    ...work,
    warnings: [...before.slice(0, MAX_WARNINGS - warnings.length), ...warnings.map(recordWarning)],
  };
}

/** Adds warnings about an answer. Under zero data retention only their fields. */
export function addRecordedWarnings(
  work: WorkRecord | undefined,
  warnings: readonly Warning[],
  retention: { readonly zeroRetention: boolean },
): WorkRecord {
  const before = work?.warnings ?? [];
  const added = recordWork({ repairs: null, warnings }, retention)?.warnings ?? [];
  return { ...work, warnings: [...before.slice(0, MAX_WARNINGS - added.length), ...added] };
}

function recordWarning({ field, message, guardrail }: Warning): RecordedWarning {
  return withGuardrail(
    { field: recordText(field, MAX_CHARS), message: recordText(message, MAX_CHARS) },
    guardrail,
  );
}

function withGuardrail(warning: RecordedWarning, guardrail: GuardrailNote | undefined): RecordedWarning {
  return guardrail === undefined ? warning : { ...warning, guardrail };
}

/** The text after the name of a field may be the name of a property or tool, so it is left out. */
function withoutContent({ field, guardrail }: Warning): RecordedWarning {
  const name = recordText(field.split(/[.[]/, 1)[0] ?? "", MAX_CHARS);
  return withGuardrail({ field: name, message: null }, guardrail);
}

/** Makes the view of repairs. */
export function presentRepairs(counts: RepairCounts): Record<string, number> {
  return {
    duplicate_calls_removed: counts.duplicateCallsRemoved,
    orphan_results_removed: counts.orphanResultsRemoved,
    placeholders_added: counts.placeholdersAdded,
    ids_mapped: counts.idsMapped,
  };
}
