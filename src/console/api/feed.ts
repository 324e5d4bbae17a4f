import { atBase } from "./base.ts";
import { ApiError, printQuery } from "./client.ts";
import { loadRequests } from "./load-requests.ts";
import { type RequestRow, toRow } from "./request-row.ts";
import type { GenerationLine, Rejection } from "./schema.ts";

/** How a feed gets its rows: from the stream, by polling if the stream is not available, or not at present. */
export type FeedState = "live" | "polling" | "waiting";

/** What a feed calls. */
interface FeedListener {
  /** New rows and rows that have changed. `dropped` counts rows that the gateway left out because there were too many. */
  onRows(rows: readonly RequestRow[], dropped: number): void;
  onState(state: FeedState): void;
  /** Called when rows may have been missed, as after the page was hidden or the connection was lost for long. */
  onGap(): void;
}

const PATH = "/api/admin/generations";
/** How often the list is read where there is no stream, and the rows of one reading. */
const POLL_MS = 2_000;
const POLL_ROWS = 50;
/** How long after a failed connection the next is tried. Milliseconds. */
const RETRY_MS = 5_000;

/** Follows the generations that match a query. Nothing is read while the page is hidden. Returns a function that ends it. */
export function followGenerations(
  query: Readonly<Record<string, string>>,
  listener: FeedListener,
): () => void {
  let stop: () => void = () => {};
  const begin = () => {
    stop();
    stop = document.hidden ? () => {} : openStream(query, listener);
  };
  const onVisibility = () => {
    begin();
    if (document.hidden) listener.onState("waiting");
    else listener.onGap();
  };
  document.addEventListener("visibilitychange", onVisibility);
  begin();
  return () => {
    document.removeEventListener("visibilitychange", onVisibility);
    stop();
  };
}

function openStream(query: Readonly<Record<string, string>>, listener: FeedListener): () => void {
  const source = new EventSource(atBase(`${PATH}/stream${printQuery(query)}`));
  let stopPolling: (() => void) | null = null;
  source.onopen = () => listener.onState("live");
  source.addEventListener("generations", (event) => {
    const { data, dropped = 0 } = JSON.parse(event.data) as { data: GenerationLine[]; dropped?: number };
    listener.onRows(data, dropped);
  });
  source.addEventListener("rejections", (event) => {
    const { data } = JSON.parse(event.data) as { data: Rejection[] };
    listener.onRows(data.map(toRow), 0);
  });
  source.addEventListener("reset", () => listener.onGap());
  source.onerror = () => {
    // A connection that broke is opened again by the browser; one that was refused is not.
    if (source.readyState === EventSource.CLOSED) stopPolling ??= poll(query, listener);
    else listener.onState("waiting");
  };
  return () => {
    source.close();
    stopPolling?.();
  };
}

function poll(query: Readonly<Record<string, string>>, listener: FeedListener): () => void {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout>;
  const read = async () => {
    let waitMs = POLL_MS;
    try {
      const page = await loadRequests({ ...query, limit: POLL_ROWS }, controller.signal);
      listener.onRows(page.data, 0);
      listener.onState("polling");
    } catch (error) {
      if (controller.signal.aborted) return;
      if (error instanceof ApiError && error.status === 401) return;
      listener.onState("waiting");
      waitMs = RETRY_MS;
    }
    timer = setTimeout(read, waitMs);
  };
  void read();
  return () => {
    controller.abort();
    clearTimeout(timer);
  };
}
