import type { SeededRandom } from "../support/seeded-random.ts";
import { MUTANT_KINDS, type Mutant } from "./find-mutants.ts";

/**
 * Draws `count` different mutants, the kinds in turn, so that kinds of which the code has few are drawn as often as the others.
 * The order of the result depends on `random` alone.
 */
export function drawMutants(found: readonly Mutant[], count: number, random: SeededRandom): Mutant[] {
  const byKind = MUTANT_KINDS.map((kind) => found.filter((mutant) => mutant.kind === kind));
  const drawn: Mutant[] = [];
  for (let turn = 0; drawn.length < count && byKind.some((left) => left.length > 0); turn++) {
    const left = byKind[turn % byKind.length]!;
    if (left.length > 0) drawn.push(left.splice(random.below(left.length), 1)[0]!);
  }
  return drawn;
}
