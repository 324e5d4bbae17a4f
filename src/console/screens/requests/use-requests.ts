import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { ApiError } from "../../api/client.ts";
import { type FeedState, followGenerations } from "../../api/feed.ts";
import { loadRequests } from "../../api/load-requests.ts";
import type { RequestRow } from "../../api/request-row.ts";
import { type Filters, isLive, toApiQuery } from "../../state/filters.ts";
import { toApiError } from "../../state/load.ts";
import { mergeRows, splitKnown } from "../../state/merge-rows.ts";

/** The rows of a page, and of a list that only the feed adds to. */
const PAGE_ROWS = 100;

/**
 * The maximum number of new rows of the feed that are shown automatically. More at a time cannot be read, and drawing them would take the
 * page more than 5 ms (`npm run bench -- console`).
 */
const MAX_AT_ONCE = 15;

/** The state of the request list. */
export interface RequestList {
  readonly rows: readonly RequestRow[];
  /** The rows that came while the list was paused. */
  readonly waiting: readonly RequestRow[];
  readonly error: ApiError | null;
  readonly isLoading: boolean;
  /** Whether the rows are those of former filters, which are shown until the load ends. */
  readonly isStale: boolean;
  /** Whether there are older rows. */
  readonly hasMore: boolean;
  readonly feed: FeedState;
  /** Rows that the gateway left out of the feed. */
  readonly dropped: number;
  loadMore(): void;
  reload(): void;
  /** Shows the rows that wait. */
  showWaiting(): void;
}

interface State extends Pick<RequestList, "rows" | "waiting" | "error" | "isLoading" | "dropped"> {
  /** The filters of the rows and of the error. */
  readonly key: string | null;
  readonly next: string | null;
  /** How many rows the list may have before the oldest are left out. */
  readonly most: number;
}

const EMPTY: State = {
  key: null,
  rows: [],
  waiting: [],
  error: null,
  isLoading: true,
  dropped: 0,
  next: null,
  most: PAGE_ROWS,
};

/** Loads the generations that match, and keeps the list up to date. While it is paused, new rows wait. */
export function useRequests(filters: Filters, isPaused: boolean): RequestList {
  const [state, setState] = useState(EMPTY);
  const [feed, setFeed] = useState<FeedState>("waiting");
  const [round, setRound] = useState(0);
  const paused = useRef(isPaused);
  paused.current = isPaused;
  const key = JSON.stringify(filters);
  const reload = useCallback(() => setRound((before) => before + 1), []);

  useEffect(() => {
    const controller = new AbortController();
    const query = { ...toApiQuery(JSON.parse(key) as Filters, Date.now()), limit: PAGE_ROWS };
    setState((before) => ({ ...before, error: null, isLoading: true }));
    loadRequests(query, controller.signal).then(
      ({ data, next }) => setState({ ...EMPTY, key, rows: data, next, isLoading: false }),
      (error: unknown) => {
        if (controller.signal.aborted) return;
        // Rows of other filters would be taken for those that were asked for.
        setState((before) => ({
          ...(before.key === key ? before : EMPTY),
          key,
          error: toApiError(error),
          isLoading: false,
        }));
      },
    );
    return () => controller.abort();
  }, [key, round]);

  useEffect(() => {
    const parsed = JSON.parse(key) as Filters;
    if (!isLive(parsed)) return;
    return followGenerations(parsed.fields as Record<string, string>, {
      onRows: (rows, dropped) =>
        setState((before) => addRows(before, rows, { dropped, isPaused: paused.current })),
      onState: setFeed,
      onGap: reload,
    });
  }, [key, reload]);

  useEffect(() => {
    if (!isPaused) setState(showWaiting);
  }, [isPaused]);

  const { next } = state;
  const loadMore = useCallback(() => {
    if (next === null) return;
    const query = { ...toApiQuery(JSON.parse(key) as Filters, Date.now()), limit: PAGE_ROWS, after: next };
    setState((before) => ({ ...before, isLoading: true }));
    loadRequests(query).then(
      (page) => setState((before) => addPage(before, page)),
      (error: unknown) => setState((before) => ({ ...before, error: toApiError(error), isLoading: false })),
    );
  }, [key, next]);

  return {
    ...state,
    feed,
    isStale: state.key !== null && state.key !== key,
    hasMore: next !== null,
    loadMore,
    reload,
    showWaiting: useCallback(() => setState(showWaiting), []),
  };
}

function addRows(
  state: State,
  incoming: readonly RequestRow[],
  { dropped, isPaused }: { readonly dropped: number; readonly isPaused: boolean },
): State {
  const { known, unknown } = splitKnown(state.rows, incoming);
  const next = {
    ...state,
    dropped: state.dropped + dropped,
    rows: mergeRows(state.rows, known, state.most),
    waiting: mergeRows(state.waiting, unknown, PAGE_ROWS),
  };
  return isPaused || unknown.length > MAX_AT_ONCE ? next : showWaiting(next);
}

function showWaiting(state: State): State {
  if (state.waiting.length === 0) return state;
  const rows = mergeRows(state.rows, state.waiting, state.most + 1);
  return cut({ ...state, rows, waiting: [] });
}

/** Leaves out the rows over the bound; the next page begins behind the last that is left. */
function cut(state: State): State {
  if (state.rows.length <= state.most) return state;
  const rows = state.rows.slice(0, state.most);
  return { ...state, rows, next: rows.at(-1)?.id ?? null };
}

function addPage(
  state: State,
  { data, next }: { readonly data: readonly RequestRow[]; readonly next: string | null },
): State {
  const most = state.most + data.length;
  return { ...state, rows: mergeRows(state.rows, data, most), next, most, isLoading: false, error: null };
}
