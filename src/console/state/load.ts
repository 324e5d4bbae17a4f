import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../api/client.ts";

/**
 * The state of something that is loaded. The previous data stays visible while it or something else is loaded. If that fails, only data of
 * the same key is kept: the numbers of another range would be taken for those that were asked for.
 */
export interface Loaded<Data> {
  readonly data: Data | null;
  /** Whether the data is that of another key, which is shown until the load ends. */
  readonly isStale: boolean;
  readonly error: ApiError | null;
  readonly isLoading: boolean;
  /** Loads again. */
  reload(): void;
}

interface State<Data> {
  /** The key of the data and of the error. */
  readonly key: string | null;
  readonly data: Data | null;
  readonly error: ApiError | null;
  readonly isLoading: boolean;
}

/**
 * Loads something when a component appears and whenever `key` changes; null loads nothing. A later load aborts an earlier one,
 * whose result is dropped.
 */
export function useLoad<Data>(
  key: string | null,
  load: (signal: AbortSignal) => Promise<Data>,
): Loaded<Data> {
  const [state, setState] = useState<State<Data>>({
    key: null,
    data: null,
    error: null,
    isLoading: key !== null,
  });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    if (key === null) return;
    const controller = new AbortController();
    setState((before) => ({ ...before, error: before.key === key ? before.error : null, isLoading: true }));
    latest.current(controller.signal).then(
      (data) => {
        if (!controller.signal.aborted) setState({ key, data, error: null, isLoading: false });
      },
      (error: unknown) => {
        if (!controller.signal.aborted)
          setState((before) => ({
            key,
            data: before.key === key ? before.data : null,
            error: toApiError(error),
            isLoading: false,
          }));
      },
    );
    return () => controller.abort();
  }, [key, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  const { data, error, isLoading } = state;
  return { data, error, isLoading, isStale: data !== null && state.key !== key, reload };
}

/** Returns any thrown value as an ApiError. */
export function toApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(String(error), 0, "internal_error", null, null);
}
