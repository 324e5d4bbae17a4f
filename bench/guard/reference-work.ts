/** A program of fixed work, whose processor time is the unit of that of a start: it depends on the machine and on the runtime only. */

const ROUNDS = 60;

const text = JSON.stringify(
  Array.from({ length: 2_000 }, (_, i) => ({
    id: `model-${i}`,
    prices: [i, i / 7, null],
    tags: { [`t${i % 50}`]: true },
  })),
);
let found = 0;
for (let round = 0; round < ROUNDS; round++) {
  const models = JSON.parse(text) as { readonly id: string; readonly prices: readonly unknown[] }[];
  const byId = new Map(models.map((model) => [model.id, model]));
  found += byId.get(`model-${round}`)?.prices.length ?? 0;
}
// Used, so that no compiler leaves the work out.
if (found !== 3 * ROUNDS) throw new Error("the reference did other work than it should");
