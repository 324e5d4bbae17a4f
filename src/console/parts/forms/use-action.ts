import { useState } from "preact/hooks";
import type { ApiError } from "../../api/client.ts";
import { toApiError } from "../../state/load.ts";

/** Something that a button begins: whether it runs, and why it failed. */
export interface Action {
  readonly isBusy: boolean;
  readonly error: ApiError | null;
  /** Runs a function unless one runs. */
  run(act: () => Promise<void>): Promise<void>;
}

/** Holds the state of an action. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  return {
    isBusy,
    error,
    async run(act) {
      if (isBusy) return;
      setBusy(true);
      setError(null);
      try {
        await act();
      } catch (failure) {
        setError(toApiError(failure));
      } finally {
        setBusy(false);
      }
    },
  };
}
