import { StoreError } from "../base/store-error.ts";

type AsyncMethods<Store> = { readonly [Name in keyof Store]: (...args: never[]) => Promise<unknown> };

/** A store whose every failure, whatever its database calls it, is a `StoreError`. */
export function guardStore<Store extends AsyncMethods<Store>>(store: Store): Store {
  const guarded: Partial<Record<keyof Store, unknown>> = {};
  for (const name in store) {
    const method: (...args: never[]) => Promise<unknown> = store[name];
    guarded[name] = async (...args: never[]) => {
      try {
        return await method(...args);
      } catch (error) {
        throw error instanceof StoreError ? error : new StoreError(error);
      }
    };
  }
  return guarded as Store;
}
