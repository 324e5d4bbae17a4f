import type { ServedProvider } from "../../deployments/served-provider.ts";
import type { Health } from "../health/health.ts";
import type { IncidentLevel } from "./incident.ts";

/** Why a provider is not called as usual. */
export interface Trouble {
  readonly level: IncidentLevel;
  /** The models whose own circuits are not closed. */
  readonly models: readonly string[];
}

type Measured = Pick<Health, "listOpenCircuits" | "listKeyCooldowns">;

/** Returns the trouble of a provider, as this gateway has measured it: a circuit is not closed, or all platform keys are rejected. */
export function findTrouble(
  health: Measured,
  { record: { slug }, keys }: Pick<ServedProvider, "record" | "keys">,
  now: number,
): Trouble | null {
  const { isWhole, models } = health.listOpenCircuits(slug, now);
  const isDown = isWhole || (keys.length > 0 && keys.every(({ label }) => isRejected(health, label, now)));
  if (!isDown && models.length === 0) return null;
  return { level: isDown ? "down" : "degraded", models };
}

function isRejected(health: Measured, label: string, now: number): boolean {
  return health
    .listKeyCooldowns(label, now)
    .some(({ model, why }) => model === null && (why === "key_refused" || why === "out_of_credit"));
}
