import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { ApiError } from "../api/client.ts";
import { toApiError } from "./load.ts";

/** A page of a list of the API. */
export interface PageOf<Row> {
  readonly data: readonly Row[];
  readonly next: string | null;
}

/** A list that is loaded page by page. */
export interface Pages<Row> {
  /** The rows of all loaded pages; null until the first page is there. */
  readonly rows: readonly Row[] | null;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly error: ApiError | null;
  more(): void;
  reload(): void;
}

interface State<Row> {
  readonly key: string | null;
  readonly rows: readonly Row[] | null;
  readonly next: string | null;
  readonly error: ApiError | null;
  readonly isLoading: boolean;
}

const NOTHING = { key: null, rows: null, next: null, error: null, isLoading: true };

/** Loads a list page by page. Another `key` is another list, which begins anew. */
export function usePages<Row>(
  key: string,
  load: (after: string | null, signal: AbortSignal) => Promise<PageOf<Row>>,
): Pages<Row> {
  const [state, setState] = useState<State<Row>>(NOTHING);
  const latest = useRef(load);
  latest.current = load;
  const running = useRef<AbortController | null>(null);
  const start = useCallback(
    (after: string | null, before: readonly Row[] | null, isAnew: boolean) => {
      running.current?.abort();
      const controller = new AbortController();
      running.current = controller;
      setState((now) => ({ ...now, key, rows: isAnew ? now.rows : before, isLoading: true, error: null }));
      latest.current(after, controller.signal).then(
        ({ data, next }) => {
          if (controller.signal.aborted) return;
          const rows = after === null ? data : [...(before ?? []), ...data];
          setState({ key, rows, next, error: null, isLoading: false });
        },
        (error: unknown) => {
          if (controller.signal.aborted) return;
          setState((now) => ({ ...now, error: toApiError(error), isLoading: false }));
        },
      );
    },
    [key],
  );
  useEffect(() => {
    start(null, null, false);
    return () => running.current?.abort();
  }, [start]);
  const isStale = state.key !== key;
  return {
    rows: isStale ? null : state.rows,
    hasMore: !isStale && state.next !== null,
    isLoading: isStale || state.isLoading,
    error: isStale ? null : state.error,
    more: () => start(state.next, state.rows, false),
    reload: () => start(null, null, true),
  };
}
