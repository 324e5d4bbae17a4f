/** Values for pairs of objects. An entry disappears with either of its objects. */
export class WeakPairs<First extends object, Second extends object, Value> {
  private readonly byFirst = new WeakMap<First, WeakMap<Second, Value>>();

  get(first: First, second: Second): Value | undefined {
    return this.byFirst.get(first)?.get(second);
  }

  /** Adds an entry, or replaces the value of the one for this pair. */
  set(first: First, second: Second, value: Value): void {
    const known = this.byFirst.get(first);
    if (known !== undefined) known.set(second, value);
    else this.byFirst.set(first, new WeakMap([[second, value]]));
  }
}
