type AsyncMethod = (...args: never[]) => Promise<unknown>;

/** Returns an object with the methods of a store, each wrapped by `wrap`. */
export function wrapMethods<Store extends object>(
  store: Store,
  wrap: (method: AsyncMethod, name: string) => AsyncMethod,
): Store {
  const wrapped: Record<string, AsyncMethod> = {};
  for (const name of listNames(store)) {
    const method = (store as Record<string, unknown>)[name];
    if (typeof method === "function" && name !== "constructor")
      wrapped[name] = wrap(method.bind(store) as AsyncMethod, name);
  }
  return wrapped as Store;
}

/** Returns the names of the members of an object, and of its classes. */
function listNames(store: object): ReadonlySet<string> {
  const names = new Set<string>();
  for (let part = store; part !== Object.prototype; part = Object.getPrototypeOf(part))
    for (const name of Object.getOwnPropertyNames(part)) names.add(name);
  return names;
}
