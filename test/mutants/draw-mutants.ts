import { MUTANT_KINDS, type Mutant } from "./find-mutants.ts";

/**
 * Draws `count` different mutants, the kinds in turn, so that a rare kind is drawn as often as a common one. What is
 * drawn depends on the seed and on each mutant alone: a change of the code, or one more explanation, leaves the others in the draw.
 */
export function drawMutants(found: readonly Mutant[], count: number, seed: number): Mutant[] {
  const ranked = rankBySeed(found, seed);
  const byKind = MUTANT_KINDS.map((kind) => ranked.filter((mutant) => mutant.kind === kind).values());
  const drawn: Mutant[] = [];
  let ended = 0;
  for (let turn = 0; drawn.length < count && ended < byKind.length; turn++) {
    const next = byKind[turn % byKind.length]!.next();
    if (next.done === true) ended += 1;
    else {
      ended = 0;
      drawn.push(next.value);
    }
  }
  return drawn;
}

/** Orders mutants by chance, without regard to their lines. */
function rankBySeed(found: readonly Mutant[], seed: number): Mutant[] {
  const same = new Map<string, number>();
  const ranked = found.map((mutant) => {
    const { file, kind, before, after } = mutant;
    const text = [file, kind, before, after].join("\0");
    const nth = same.get(text) ?? 0;
    same.set(text, nth + 1);
    return { mutant, rank: Bun.hash(`${nth}\0${text}`, BigInt(seed)) };
  });
  return ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1)).map(({ mutant }) => mutant);
}
