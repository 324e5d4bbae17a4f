import type { Timer } from "../../base/time/clock.ts";
import type { EncodedOrigin } from "./json.ts";
import { type ExportResult, type Posting, postExport } from "./post-export.ts";
import { SpanBatch } from "./span-batch.ts";

/** Spans in one post. */
const BATCH_SPANS = 512;
/** How long a span waits for others. Milliseconds. */
const DELAY_MS = 5_000;
/** Spans that may wait; further ones are dropped. About a kilobyte each. */
const MAX_WAITING_SPANS = 8_192;

/** The receivers of an exporter's results. */
export interface ExportReports {
  /** Called with how many spans or exports the collector has taken. */
  readonly onTaken: (count: number) => void;
  /** Called with how many were dropped, and why. */
  readonly onDropped: (count: number, reason: string) => void;
}

/** Sends spans in batches: when there are enough for one, or after some seconds. Only one post is in progress at a time. */
export class SpanExporter {
  /** The oldest first. All but the newest are full. */
  private readonly waiting: SpanBatch[] = [];
  private waitingSpans = 0;
  /** The size of the last batch, which decides the initial memory of the next one. */
  private lastBytes = 0;
  private timer: Timer | null = null;
  private sending: Promise<void> | null = null;

  constructor(
    private readonly posting: Posting,
    private readonly origin: EncodedOrigin,
    private readonly reports: ExportReports,
  ) {}

  /** Adds the encoded spans of a trace, separated by commas. A trace is not divided, however many spans it has. */
  add(json: string, spans: number): void {
    if (this.waitingSpans + spans > MAX_WAITING_SPANS) {
      this.reports.onDropped(spans, "too many spans wait for the collector");
      return;
    }
    this.findBatch().append(json, spans);
    this.waitingSpans += spans;
    if (this.waitingSpans >= BATCH_SPANS) this.send();
    else this.timer ??= this.posting.clock.after(DELAY_MS, () => this.send());
  }

  /** Resolves when everything that waits was sent or dropped. */
  async flush(): Promise<void> {
    this.send();
    while (this.sending !== null) await this.sending;
  }

  /** Returns the batch that further spans belong to. */
  private findBatch(): SpanBatch {
    const newest = this.waiting.at(-1);
    if (newest !== undefined && newest.spans < BATCH_SPANS) return newest;
    const batch = new SpanBatch(this.origin, this.lastBytes);
    this.waiting.push(batch);
    return batch;
  }

  private send(): void {
    this.timer?.cancel();
    this.timer = null;
    if (this.sending !== null) return;
    const batch = this.waiting.shift();
    if (batch === undefined) return;
    this.waitingSpans -= batch.spans;
    this.sending = this.sendBatch(batch).finally(() => {
      this.sending = null;
      const { clock, stopped } = this.posting;
      if (this.waitingSpans >= BATCH_SPANS || stopped.aborted) this.send();
      else if (this.waiting.length > 0) this.timer ??= clock.after(DELAY_MS, () => this.send());
    });
  }

  private async sendBatch(batch: SpanBatch): Promise<void> {
    const body = batch.finish();
    this.lastBytes = body.length;
    reportExport(await postExport(this.posting, body), batch.spans, this.reports);
  }
}

/** Reports the result of an export with this number of items. */
export function reportExport(result: ExportResult, count: number, reports: ExportReports): void {
  if (result.kind === "failed") {
    reports.onDropped(count, result.reason);
    return;
  }
  const { rejected, message } = result;
  if (rejected > 0) reports.onDropped(rejected, `the collector has rejected them: ${message}`);
  reports.onTaken(Math.max(0, count - rejected));
}
