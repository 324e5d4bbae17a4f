/** One dimension of a request's body: how the body looks when there are `n` of what the dimension counts. */
export interface Dimension {
  /** What is counted: "tool calls without results". */
  readonly name: string;
  readonly body: (n: number) => Readonly<Record<string, unknown>>;
}

/** `n` values, made from their index. */
export function times<T>(n: number, make: (index: number) => T): T[] {
  return Array.from({ length: n }, (_, index) => make(index));
}

/** An object with `n` members, made from their index. */
export function members<T>(n: number, make: (index: number) => T): Record<string, T> {
  return Object.fromEntries(times(n, (index) => [`member_${index}`, make(index)]));
}
