import type { UsageRecord } from "../../core/usage/records/records.ts";
import type { StoreDeps } from "../context/store-deps.ts";

/**
 * Returns the newest version of a generation's record, by its id or by the id of its request; null if there is none. Rejects with a
 * `StoreError`.
 */
export async function findGeneration(
  { generation, reports: { usage } }: Pick<StoreDeps, "generation" | "reports">,
  id: string,
): Promise<UsageRecord | null> {
  if (id.startsWith("gen_")) return generation.recorder.find(id);
  await generation.recorder.drain();
  return usage.findByRequest(id);
}
