type AsyncMethod = (...args: never[]) => Promise<unknown>;

/** Returns an object with the methods of a store, each wrapped by `wrap`. */
export function wrapMethods<Store extends object>(
  store: Store,
  wrap: (method: AsyncMethod, name: string) => AsyncMethod,
): Store {
  const wrapped: Record<string, AsyncMethod> = {};
  const names = [...Object.keys(store), ...Object.getOwnPropertyNames(Object.getPrototypeOf(store))];
  for (const name of names) {
    const method = (store as Record<string, unknown>)[name];
    if (typeof method === "function" && name !== "constructor")
      wrapped[name] = wrap(method.bind(store) as AsyncMethod, name);
  }
  return wrapped as Store;
}
