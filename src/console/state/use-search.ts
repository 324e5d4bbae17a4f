import { useEffect, useRef, useState } from "preact/hooks";
import { query, setQuery } from "./location.ts";

/** How long after the last keystroke a search begins. Milliseconds. */
const PAUSE_MS = 250;

/** A text that is searched for. */
interface Search {
  readonly typed: string;
  /** What is searched for: the typed text after a pause; undefined for none. */
  readonly sought: string | undefined;
  type(text: string): void;
}

/** Holds a search in the address, under a name. */
export function useSearch(name = "q"): Search {
  const sought = query.value[name]?.trim() || undefined;
  const [typed, setTyped] = useState(sought ?? "");
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    // The browser's buttons changed the address.
    if (timer.current === undefined) setTyped(sought ?? "");
  }, [sought]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return {
    typed,
    sought,
    type(text) {
      setTyped(text);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => {
        timer.current = undefined;
        setQuery({ [name]: text.trim() || null });
      }, PAUSE_MS);
    },
  };
}
