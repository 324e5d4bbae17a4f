import { useState } from "preact/hooks";
import type { ApiError } from "../api/client.ts";
import { findField } from "./find-field.ts";
import { toApiError } from "./load.ts";

/** A form whose values are sent to the API. */
export interface Form<Values> {
  readonly values: Values;
  /** Whether a value differs from the initial ones. */
  readonly isChanged: boolean;
  readonly isBusy: boolean;
  /** Why the last attempt failed, if the error names none of the form's fields. */
  readonly error: ApiError | null;
  set(change: Partial<Values>): void;
  /** Returns what the API says about a field, by its name in the API; null if nothing. */
  errorOf(field: string): string | null;
  /** Sends the values. They are forgotten after a success only. */
  submit(): Promise<void>;
  /** Forgets what was typed. */
  reset(): void;
  /** Keeps what was typed while the browser leaves the console and comes back in the same tab. */
  keep(): void;
}

/** The inputs of a form. */
interface FormOptions<Values, Result> {
  /** The name of a draft. A draft is kept until it is sent, even while its form is not shown. */
  readonly draft: string;
  readonly initial: Values;
  /** The fields whose errors are shown beside them, by their names in the API. */
  readonly fields: readonly string[];
  send(values: Values): Promise<Result>;
  onSent(result: Result): void;
}

/** The entry of the session storage with the one draft. */
const KEPT = "gateway-draft";

/** What was typed and not sent, in the memory of the page. Only `keep` puts it elsewhere; forms with secrets do not call it. */
const drafts = new Map<string, object>(takeKept());

function takeKept(): readonly (readonly [string, object])[] {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null") as [string, object] | null;
    sessionStorage.removeItem(KEPT);
    return kept === null ? [] : [kept];
  } catch {
    return [];
  }
}

/** Holds the values of a form, sends them, and keeps them until the API has accepted them. */
export function useForm<Values extends object, Result>(options: FormOptions<Values, Result>): Form<Values> {
  const { draft, initial, fields } = options;
  const [, redraw] = useState(0);
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const typed = drafts.get(draft) as Partial<Values> | undefined;
  const values = { ...initial, ...typed };
  const update = () => redraw((before) => before + 1);
  const reset = () => {
    drafts.delete(draft);
    setError(null);
    update();
  };
  return {
    values,
    isChanged: typed !== undefined && JSON.stringify(values) !== JSON.stringify(initial),
    isBusy,
    error: error !== null && findField(error, fields) === null ? error : null,
    errorOf: (field) => (error !== null && findField(error, fields) === field ? error.message : null),
    set(change) {
      drafts.set(draft, { ...(drafts.get(draft) ?? {}), ...change });
      update();
    },
    reset,
    keep() {
      try {
        sessionStorage.setItem(KEPT, JSON.stringify([draft, values]));
      } catch {
        // Without storage it is typed again.
      }
    },
    async submit() {
      if (isBusy) return;
      setBusy(true);
      try {
        const result = await options.send(values);
        reset();
        options.onSent(result);
      } catch (failure) {
        setError(toApiError(failure));
      } finally {
        setBusy(false);
      }
    },
  };
}
