/** Returns subjects in their order in a round: each round begins with another one, so that other work of the machine affects all equally. */
export function inTurn<T>(subjects: readonly T[], round: number): readonly T[] {
  const at = round % Math.max(1, subjects.length);
  return [...subjects.slice(at), ...subjects.slice(0, at)];
}
