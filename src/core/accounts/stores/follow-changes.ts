import type { Memoized } from "./memoize.ts";

/** The changes of a group of tables since an earlier reading. */
export interface ChangedRows {
  /** The ids of changed rows; null if they are not known, so that anything may have changed. */
  readonly ids: readonly string[] | null;
  /** Where the next reading continues. */
  readonly cursor: string | null;
}

/** A group of tables that is cached in memory. */
interface FollowedGroup {
  /** Returns a number that every change of the group raises. */
  readonly readRevision: () => Promise<number>;
  /** Returns what has changed since the cursor of an earlier call; null before the first. Absent if the store does not record it. */
  readonly listChanged?: ((cursor: string | null) => Promise<ChangedRows>) | undefined;
  readonly caches: readonly Pick<Memoized<unknown>, "expire" | "forget">[];
}

/**
 * Returns a function that makes caches read again what processes have changed since its last call: the changed rows, or everything if the
 * store does not list them. A changed value is not used again, even while the store is unavailable.
 */
export function followChanges({ readRevision, listChanged, caches }: FollowedGroup): () => Promise<void> {
  let revision = -1;
  let cursor: string | null = null;
  return async () => {
    const current = await readRevision();
    if (current === revision) return;
    let changed: ChangedRows = { ids: null, cursor: null };
    try {
      if (listChanged !== undefined) changed = await listChanged(cursor);
      revision = current;
    } finally {
      for (const cache of caches)
        if (changed.ids === null) cache.expire();
        else for (const id of changed.ids) cache.forget(id);
      cursor = changed.cursor;
    }
  };
}
