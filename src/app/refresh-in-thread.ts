import type { Clock } from "../base/clock.ts";
import type { RefreshReport } from "../core/catalog/catalog-manager.ts";
import type { RefreshOrder } from "./refresh-worker.ts";

/** Longer than fetching and merging a source may take. Milliseconds. */
const THREAD_MS = 120_000;

/** Runs a refresh in a thread of its own. A thread that fails or does not end in time counts as a failed refresh; writes are atomic. */
export function refreshInThread(order: RefreshOrder, clock: Clock): Promise<RefreshReport> {
  return new Promise((resolve) => {
    const worker = new Worker(new URL("./refresh-worker.ts", import.meta.url));
    const end = (report: RefreshReport): void => {
      timer.cancel();
      worker.terminate();
      resolve(report);
    };
    const timer = clock.after(THREAD_MS, () => end(failed(order, "took too long to be merged")));
    worker.onmessage = ({ data }: MessageEvent<RefreshReport>) => end(data);
    worker.onerror = (event) => end(failed(order, `could not be merged: ${event.message}`));
    worker.postMessage(order);
  });
}

function failed({ job }: RefreshOrder, reason: string): RefreshReport {
  const problem = `${job.source} ${reason}`;
  return { ok: false, written: false, problem, lines: [], added: 0, changed: 0, waiting: [] };
}
