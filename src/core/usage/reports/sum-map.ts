import type { UsageSumKey } from "./usage-sum-key.ts";

/**
 * Sums by their dimensions. They are found by the API key, the model, and a search among the few sums that have both: a key of all
 * dimensions would be a new text for each record.
 */
export class SumMap<Sum extends { readonly key: UsageSumKey }> {
  private readonly byKey = new Map<string, Map<string, Sum[]>>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  get(key: UsageSumKey): Sum | undefined {
    const sums = this.byKey.get(key.keyId)?.get(key.model);
    if (sums !== undefined) for (const sum of sums) if (hasSameRest(sum.key, key)) return sum;
    return undefined;
  }

  /** Adds a sum. Its dimensions must be new. */
  add(sum: Sum): void {
    const { keyId, model } = sum.key;
    const byModel = this.byKey.get(keyId) ?? new Map<string, Sum[]>();
    this.byKey.set(keyId, byModel);
    const sums = byModel.get(model);
    if (sums === undefined) byModel.set(model, [sum]);
    else sums.push(sum);
    this.count += 1;
  }

  /** Removes all sums and returns them. */
  takeAll(): Sum[] {
    const all = [...this.byKey.values()].flatMap((byModel) => [...byModel.values()].flat());
    this.byKey.clear();
    this.count = 0;
    return all;
  }
}

/** Returns whether two sums with the same API key and model have the same dimensions. */
function hasSameRest(a: UsageSumKey, b: UsageSumKey): boolean {
  return (
    a.outcome === b.outcome &&
    a.hour === b.hour &&
    a.day === b.day &&
    a.provider === b.provider &&
    a.accountId === b.accountId &&
    a.userId === b.userId
  );
}
