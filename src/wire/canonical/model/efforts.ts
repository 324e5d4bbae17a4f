/** Reasoning efforts in ascending order. */
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/**
 * Returns the effort of `offered` that is nearest to the wanted one; `atTie` decides between two that are equally near. Null if the wanted
 * effort, or every offered one, is an unknown word.
 */
export function nearestEffort(
  wanted: string,
  offered: readonly string[],
  atTie: "lower" | "higher" = "lower",
): string | null {
  const rank = EFFORTS.indexOf(wanted);
  if (rank < 0) return null;
  const distance = (effort: string) => Math.abs(EFFORTS.indexOf(effort) - rank);
  const ascending = EFFORTS.filter((effort) => offered.includes(effort));
  const ranked = atTie === "lower" ? ascending : ascending.toReversed();
  return ranked.toSorted((a, b) => distance(a) - distance(b))[0] ?? null;
}

/** Returns efforts without `none`, for requests in which reasoning is on. */
export function withoutNone(efforts: readonly string[]): readonly string[] {
  return efforts.filter((effort) => effort !== "none");
}

/** Returns the effort that spends about as many tokens on reasoning, for models that take efforts instead of a budget. */
export function effortOfBudget(tokens: number): string {
  if (tokens <= 4_096) return "low";
  return tokens <= 16_384 ? "medium" : "high";
}
