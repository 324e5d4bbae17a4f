import type { FormatName } from "../../wire/conversation/format-name.ts";
import type { PlanNote } from "../usage/plan-entry.ts";
import type { Candidate, Plan } from "./plan.ts";
import type { SiftedOut } from "./select-offers.ts";

/** A plan may have thousands of lines, a record must not. */
const MAX_NOTES = 24;

/** The plan in notes, candidates first; what is more than a record should hold is left out. */
export function notePlan(
  { candidates, setAside }: Plan,
  siftedOut: readonly SiftedOut[],
): readonly PlanNote[] {
  const notes: PlanNote[] = candidates.map(({ provider, model, why }) => ({
    provider: provider.record.slug,
    model: model.id,
    isCandidate: true,
    why,
  }));
  for (const { offer, why } of [...setAside, ...siftedOut]) {
    notes.push({ provider: offer.provider.record.slug, model: offer.model.id, isCandidate: false, why });
  }
  return notes.length > MAX_NOTES ? notes.slice(0, MAX_NOTES) : notes;
}

/** The notes with the format that a candidate is asked in, on its first line. */
export function noteFormat(
  notes: readonly PlanNote[],
  { provider, model }: Candidate,
  format: FormatName,
): readonly PlanNote[] {
  const at = notes.findIndex(
    (note) => note.isCandidate && note.provider === provider.record.slug && note.model === model.id,
  );
  const note = notes[at];
  return note === undefined || note.format === format ? notes : notes.with(at, { ...note, format });
}

/** Lines that a header holds; whoever wants more asks for the generation. */
const MAX_IN_HEADER = 8;

/** The same for a header: `anthropic;why=warm_cache, openai;why=price;format=openai-responses, azure;out=circuit_open`. */
export function formatPlan(notes: readonly PlanNote[]): string {
  return notes
    .slice(0, MAX_IN_HEADER)
    .map(
      ({ provider, isCandidate, why, format }) =>
        `${provider};${isCandidate ? "why" : "out"}=${why}${format === undefined ? "" : `;format=${format}`}`,
    )
    .join(", ");
}
