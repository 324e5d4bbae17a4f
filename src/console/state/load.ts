import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../api/client.ts";

/** The state of something that is loaded. The previous data stays visible while it is loaded again. */
export interface Loaded<Data> {
  readonly data: Data | null;
  readonly error: ApiError | null;
  readonly isLoading: boolean;
  /** Loads again. */
  reload(): void;
}

/**
 * Loads something when a component appears and whenever `key` changes; null loads nothing. A later load aborts an earlier one,
 * whose result is dropped.
 */
export function useLoad<Data>(
  key: string | null,
  load: (signal: AbortSignal) => Promise<Data>,
): Loaded<Data> {
  const [state, setState] = useState<Omit<Loaded<Data>, "reload">>({
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
    setState((before) => ({ ...before, isLoading: true }));
    latest.current(controller.signal).then(
      (data) => {
        if (!controller.signal.aborted) setState({ data, error: null, isLoading: false });
      },
      (error: unknown) => {
        if (!controller.signal.aborted)
          setState((before) => ({ ...before, error: toApiError(error), isLoading: false }));
      },
    );
    return () => controller.abort();
  }, [key, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  return { ...state, reload };
}

/** Returns any thrown value as an ApiError. */
export function toApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(String(error), 0, "internal_error", null, null);
}
