import type { PrintedFamily } from "../../telemetry/metrics/print-metrics.ts";

/** The metrics of one process. */
export type ProcessMetrics = readonly PrintedFamily[];

/** The processes that share a port (`server.processes`), from the view of one of them. */
export interface ProcessGroup {
  /** The number of this process, from 1 on. */
  readonly index: number;
  /** Sets the function that answers when another process asks for the metrics of this one. */
  serveMetrics(read: () => Promise<ProcessMetrics>): void;
  /** Returns the metrics of the other processes. One that does not answer in time is left out. */
  readOthers(): Promise<readonly ProcessMetrics[]>;
}
