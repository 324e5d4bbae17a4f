import { GatewayError } from "../base/failures/errors.ts";
import { StoreError } from "../base/failures/store-error.ts";
import { wrapMethods } from "./wrap-methods.ts";

/** Resolves to true, after a pause, if a call that has failed so often is to be repeated. */
type Repeat = (error: unknown, failures: number) => Promise<boolean>;

const NEVER: Repeat = async () => false;

/**
 * Returns a store that rejects with a `StoreError` for every failure of its database, unless `repeat` repeats the call. A `GatewayError`,
 * with which a store rejects a call for a reason, is passed on.
 */
export function guardStore<Store extends object>(store: Store, repeat: Repeat = NEVER): Store {
  return wrapMethods(store, (method) => async (...args) => {
    for (let failures = 1; ; failures++) {
      try {
        return await method(...args);
      } catch (error) {
        if (await repeat(error, failures)) continue;
        throw error instanceof StoreError || error instanceof GatewayError ? error : new StoreError(error);
      }
    }
  });
}

/** Returns stores by their names, each guarded as by `guardStore`. */
export function guardStores<Stores extends Readonly<Record<keyof Stores, object>>>(
  stores: Stores,
  repeat: Repeat = NEVER,
): Stores {
  const guarded = Object.entries<object>(stores).map(([name, store]) => [name, guardStore(store, repeat)]);
  return Object.fromEntries(guarded) as Stores;
}
