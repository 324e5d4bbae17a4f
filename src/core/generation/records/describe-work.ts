import type { AnswerFilter } from "../../../wire/canonical/answer/filter-answer.ts";
import type { EncodedForUpstream } from "../../../wire/client-apis/request/inference-request.ts";
import type { Warning } from "../../../wire/conversation/warning.ts";
import type { Candidate } from "../../routing/plan/plan.ts";
import { presentRepairs } from "../../usage/records/work-record.ts";

/** Returns the `gateway_metadata` of an answer: repairs of its request and warnings. Null if there are none. */
export function describeWork(
  { repair, warnings: ofEncoding }: EncodedForUpstream,
  ofAdmission: readonly Warning[],
): Record<string, unknown> | null {
  if (repair === null && ofEncoding.length === 0 && ofAdmission.length === 0) return null;
  const warnings = [...ofAdmission, ...ofEncoding];
  return {
    ...(repair === null ? {} : { repairs: presentRepairs(repair.counts) }),
    ...(warnings.length === 0
      ? {}
      : { warnings: warnings.map(({ field, message }) => ({ field, message })) }),
  };
}

/** Adds a warning to an answer that is not charged because its model has no price. */
export function warnUnpriced(
  { endpoint, key }: Pick<Candidate, "endpoint" | "key">,
  warnings: readonly Warning[],
): readonly Warning[] {
  return endpoint.isPriceUnknown === true && key.byokId === null ? [...warnings, NO_PRICE] : warnings;
}

const NO_PRICE: Warning = {
  field: "model",
  message: "The operator has set no price for this model at its provider: the answer is not charged.",
};

/** Adds warnings that are known only at the end of an answer to its `gateway_metadata`: those of the gateway, and those of its filter. */
export function addWarnings(
  metadata: Readonly<Record<string, unknown>> | null,
  warnings: readonly Warning[],
  filter: Pick<AnswerFilter, "listWarnings"> | null,
): Readonly<Record<string, unknown>> | null {
  if (warnings.length === 0 && filter === null) return metadata;
  const found = filter?.listWarnings() ?? [];
  if (warnings.length === 0 && found.length === 0) return metadata;
  const before = metadata?.["warnings"];
  const added = [...found, ...warnings].map(({ field, message }) => ({ field, message }));
  return { ...metadata, warnings: [...(Array.isArray(before) ? before : []), ...added] };
}
