/**
 * Returns the known names that an option with a comma-separated list chooses, in the order of `known`; all without the option.
 * Throws with a message for an unknown name.
 */
export function pickNames<T extends string>(
  option: string,
  given: string | undefined,
  known: readonly T[],
): readonly T[] {
  if (given === undefined) return known;
  const names = given.split(",");
  const unknown = names.find((name) => !known.some((other) => other === name));
  if (unknown !== undefined) throw new Error(`${option}: "${unknown}" is none of ${known.join(", ")}`);
  return known.filter((name) => names.includes(name));
}
