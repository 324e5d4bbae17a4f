import type { ReportEntry } from "./import-report.ts";

/** The configuration of another gateway, converted. */
export interface ImportedConfig {
  /** The contents of `gateway.yaml`. It may have secrets. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly entries: readonly ReportEntry[];
  /** Environment variables that the configuration refers to. */
  readonly variables: readonly string[];
}
