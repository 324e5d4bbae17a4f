import type { Clock } from "../base/clock.ts";
import type { RefreshReport } from "../core/catalog/catalog-keeper.ts";
import type { RefreshJob } from "./refresh-catalog.ts";

/** Longer than a source may take, and all that comes of it. Milliseconds. */
const THREAD_MS = 120_000;

/** Does a refresh in a thread of its own. One that dies or does not end has failed; what it had not renamed is not there. */
export function refreshInThread(job: RefreshJob, clock: Clock): Promise<RefreshReport> {
  return new Promise((resolve) => {
    const worker = new Worker(new URL("./refresh-worker.ts", import.meta.url));
    const end = (report: RefreshReport): void => {
      timer.cancel();
      worker.terminate();
      resolve(report);
    };
    const timer = clock.after(THREAD_MS, () => end(failed(job, "took too long to be taken over")));
    worker.onmessage = ({ data }: MessageEvent<RefreshReport>) => end(data);
    worker.onerror = (event) => end(failed(job, `could not be taken over: ${event.message}`));
    worker.postMessage(job);
  });
}

function failed({ source }: RefreshJob, reason: string): RefreshReport {
  const problem = `${source} ${reason}`;
  return { ok: false, written: false, problem, lines: [], added: 0, changed: 0, waiting: [] };
}
