import type { Clock } from "../../base/time/clock.ts";
import type { RefreshReport } from "../../core/catalog/refresh/catalog-manager.ts";
import type { RefreshMessage } from "./refresh-worker.ts";

/** The longest duration of a refresh. Milliseconds. */
const MAX_REFRESH_MS = 120_000;

/** Runs a refresh in a new thread. If the thread fails or takes too long, the refresh has failed. Writes are atomic. */
export function refreshInThread(message: RefreshMessage, clock: Clock): Promise<RefreshReport> {
  return new Promise((resolve) => {
    const worker = new Worker(new URL("./refresh-worker.ts", import.meta.url));
    const end = (report: RefreshReport): void => {
      timer.cancel();
      worker.terminate();
      resolve(report);
    };
    const timer = clock.after(MAX_REFRESH_MS, () => end(failed(message, "took too long to be merged")));
    worker.onmessage = ({ data }: MessageEvent<RefreshReport>) => end(data);
    worker.onerror = (event) => end(failed(message, `could not be merged: ${event.message}`));
    worker.postMessage(message);
  });
}

function failed({ job }: RefreshMessage, reason: string): RefreshReport {
  const problem = `${job.source} ${reason}`;
  return { ok: false, written: false, problem, lines: [], added: 0, changed: 0, waiting: [] };
}
