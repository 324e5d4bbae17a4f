import { useState } from "preact/hooks";
import { signIn } from "./session.ts";

/** A form that signs in with a management key. */
export interface KeySignIn {
  readonly key: string;
  readonly setKey: (key: string) => void;
  /** Why the last try failed; null before it, and after a success. */
  readonly error: string | null;
  readonly isBusy: boolean;
  readonly submit: (event: Event) => Promise<void>;
}

/** Holds the state of a form that signs in with a management key. An empty key is not sent. */
export function useKeySignIn(): KeySignIn {
  const [key, setKey] = useState("");
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (key.trim() === "") return;
    setBusy(true);
    const failure = await signIn({ key: key.trim() });
    setBusy(false);
    setError(failure?.message ?? null);
  };
  return { key, setKey, error, isBusy, submit };
}
