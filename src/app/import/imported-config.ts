import type { ReportEntry } from "./import-report.ts";

/** The configuration of another gateway, converted. */
export interface ImportedConfig {
  /** What `gateway.yaml` contains. It may have secrets. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly entries: readonly ReportEntry[];
  /** Environment variables that the configuration refers to. */
  readonly variables: readonly string[];
}
