import { type ClassCost, changeOf } from "./measure.ts";

/** Agents save at least this share of the cost of their prompts, and no other kind of conversation pays more than this share. */
const [LEAST_SAVING, MAX_EXTRA] = [0.5, 0.02];

/** Lists the kinds of conversations for which marks save too little or cost too much. */
export function findBroken(costs: readonly ClassCost[]): readonly string[] {
  return costs.flatMap((cost) => {
    const change = changeOf(cost);
    if (cost.isAgent && change > -LEAST_SAVING) return [`${cost.name}: save only ${percent(-change)}`];
    return change > MAX_EXTRA ? [`${cost.name}: cost ${percent(change)} more`] : [];
  });
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
