import { useEffect, useRef } from "preact/hooks";
import type { Loaded } from "./load.ts";

/** Loads something again every `everyMs` milliseconds while the page is visible. A load that is slower is not interrupted. */
export function useRefresh({ isLoading, reload }: Loaded<unknown>, everyMs: number): void {
  const isBusy = useRef(isLoading);
  isBusy.current = isLoading;
  useEffect(() => {
    const refresh = () => {
      if (!document.hidden && !isBusy.current) reload();
    };
    const timer = setInterval(refresh, everyMs);
    document.addEventListener("visibilitychange", refresh);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", refresh);
    };
  }, [reload, everyMs]);
}
