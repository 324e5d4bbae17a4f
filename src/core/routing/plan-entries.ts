import type { FormatName } from "../../wire/conversation/format-name.ts";
import type { PlanEntry } from "../usage/plan-entry.ts";
import type { Candidate, Plan } from "./plan.ts";
import type { FilteredOut } from "./select-deployments.ts";

/** A plan may have thousands of lines, a record must not. */
const MAX_NOTES = 24;

/** The plan in notes, candidates first; what is more than a record should hold is left out. */
export function toPlanEntries(
  { candidates, skipped: setAside }: Plan,
  filteredOut: readonly FilteredOut[],
): readonly PlanEntry[] {
  const notes: PlanEntry[] = candidates.map(({ provider, model, why }) => ({
    provider: provider.record.slug,
    model: model.id,
    isCandidate: true,
    why,
  }));
  for (const { deployment, why } of [...setAside, ...filteredOut]) {
    notes.push({
      provider: deployment.provider.record.slug,
      model: deployment.model.id,
      isCandidate: false,
      why,
    });
  }
  return notes.length > MAX_NOTES ? notes.slice(0, MAX_NOTES) : notes;
}

/** The notes with the format that a candidate is asked in, on its first line. */
export function recordFormat(
  notes: readonly PlanEntry[],
  { provider, model }: Candidate,
  format: FormatName,
): readonly PlanEntry[] {
  const at = notes.findIndex(
    (note) => note.isCandidate && note.provider === provider.record.slug && note.model === model.id,
  );
  const note = notes[at];
  return note === undefined || note.format === format ? notes : notes.with(at, { ...note, format });
}

/** Lines that a header holds; whoever wants more asks for the generation. */
const MAX_IN_HEADER = 8;

/** The same for a header: `anthropic;why=warm_cache, openai;why=price;format=openai-responses, azure;out=circuit_open`. */
export function formatPlan(notes: readonly PlanEntry[]): string {
  return notes
    .slice(0, MAX_IN_HEADER)
    .map(
      ({ provider, isCandidate, why, format }) =>
        `${provider};${isCandidate ? "why" : "out"}=${why}${format === undefined ? "" : `;format=${format}`}`,
    )
    .join(", ");
}
