import { StoreError } from "../base/store-error.ts";
import { wrapMethods } from "./wrap-methods.ts";

/** Returns a store that rejects with a `StoreError` for every failure of its database. */
export function guardStore<Store extends object>(store: Store): Store {
  return wrapMethods(store, (method) => async (...args) => {
    try {
      return await method(...args);
    } catch (error) {
      throw error instanceof StoreError ? error : new StoreError(error);
    }
  });
}
