import type { ProviderFormat } from "../../../wire/conversation/traits/format-name.ts";
import type { Deployment } from "../../deployments/served-models.ts";
import type { ProviderKey } from "../../deployments/served-provider.ts";
import type { PlanEntry } from "../../usage/records/plan-entry.ts";
import type { Candidate, Plan } from "./plan.ts";
import type { FilteredOut } from "./select-deployments.ts";

/** The maximum number of entries in a record. A plan may have thousands. */
export const MAX_ENTRIES = 24;

/** Returns the entries of a plan, candidates first, up to the maximum. */
export function toPlanEntries(
  { candidates, skipped }: Plan,
  filteredOut: readonly FilteredOut[],
): readonly PlanEntry[] {
  const entries = candidates.map(createCandidateEntry);
  for (const { deployment, key, why, until } of skipped)
    entries.push(createSkippedEntry(deployment, why, { key, until }));
  for (const { deployment, why } of filteredOut) entries.push(createSkippedEntry(deployment, why));
  return entries.length > MAX_ENTRIES ? entries.slice(0, MAX_ENTRIES) : entries;
}

/** Returns the name of a key in records: the id of a BYOK key, or the label of a platform key. */
export function nameOfKey({ byokId, label }: Pick<ProviderKey, "byokId" | "label">): string {
  return byokId ?? label;
}

/** Returns the entry of a candidate. It has no key if the provider has only one platform key, and this is the key. */
function createCandidateEntry({ provider, model, key, why }: Candidate): PlanEntry {
  const entry = { provider: provider.record.slug, model: model.id, isCandidate: true, why };
  return key.byokId !== null || provider.keys.length > 1 ? { ...entry, key: nameOfKey(key) } : entry;
}

function createSkippedEntry(
  { provider, model }: Deployment,
  why: PlanEntry["why"],
  { key = null, until }: { readonly key?: ProviderKey | null; readonly until?: number | undefined } = {},
): PlanEntry {
  const entry = { provider: provider.record.slug, model: model.id, isCandidate: false, why };
  const named = key === null ? entry : { ...entry, key: nameOfKey(key) };
  return until === undefined ? named : { ...named, until };
}

/** Returns the entries with the format in which a candidate is called, in its first entry. */
export function recordFormat(
  entries: readonly PlanEntry[],
  { provider, model, key }: Candidate,
  format: ProviderFormat,
): readonly PlanEntry[] {
  const at = entries.findIndex(
    (entry) =>
      entry.isCandidate &&
      entry.provider === provider.record.slug &&
      entry.model === model.id &&
      (entry.key === undefined || entry.key === nameOfKey(key)),
  );
  const entry = entries[at];
  return entry === undefined || entry.format === format ? entries : entries.with(at, { ...entry, format });
}

/** The maximum number of entries in a header. `GET /generation` shows more. */
const MAX_IN_HEADER = 8;

/** Formats entries as a header value: `anthropic;why=warm_cache, openai;why=price;format=openai-responses, azure;out=circuit_open`. */
export function formatPlan(entries: readonly PlanEntry[]): string {
  const [only, another] = entries;
  if (only !== undefined && another === undefined) return formatEntry(only);
  return entries.slice(0, MAX_IN_HEADER).map(formatEntry).join(", ");
}

function formatEntry({ provider, isCandidate, why, format }: PlanEntry): string {
  const called = format === undefined ? "" : `;format=${format}`;
  return `${provider};${isCandidate ? "why" : "out"}=${why}${called}`;
}
