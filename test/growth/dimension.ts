/** A dimension of a request body, which has `n` of the counted elements. */
export interface Dimension {
  /** The counted elements, such as "tool calls without results". */
  readonly name: string;
  readonly body: (n: number) => Readonly<Record<string, unknown>>;
}

/** Returns `n` values, created from their index. */
export function times<T>(n: number, make: (index: number) => T): T[] {
  return Array.from({ length: n }, (_, index) => make(index));
}

/** Returns an object with `n` members, created from their index. */
export function members<T>(n: number, make: (index: number) => T): Record<string, T> {
  return Object.fromEntries(times(n, (index) => [`member_${index}`, make(index)]));
}
