/** Whether something has a name, as a set does. */
export type NameSet = Pick<ReadonlySet<string>, "has">;

/** Returns what has the names of both. Copies nothing: a set that is made for one request costs it more than its few questions. */
export function eitherOf(one: NameSet, other: ReadonlySet<string>): NameSet {
  return other.size === 0 ? one : { has: (name) => one.has(name) || other.has(name) };
}

/** Returns what has the names of `some` that `excluded` has not. */
export function allBut(some: NameSet, excluded: NameSet): NameSet {
  return { has: (name) => some.has(name) && !excluded.has(name) };
}
