import type { ConfigPath } from "../config/config-error.ts";
import type { YamlSource } from "../config/yaml-source.ts";

/** The result of importing a setting of the other gateway. */
export type ConfigImportOutcome = "taken" | "differs" | "missing";

/** One line of the report. It never contains a value that may be a secret. */
export interface ReportEntry {
  readonly outcome: ConfigImportOutcome;
  readonly file: string;
  readonly line: number;
  /** The setting in the source: `model_list.0.litellm_params.rpm`. */
  readonly source: string;
  /** The key here; null if nothing was written. */
  readonly target: string | null;
  readonly text: string;
}

/** The key here and the explanation of an entry. */
interface Remark {
  readonly target?: string | undefined;
  readonly text: string;
}

/** A setting in a source file. */
export interface SourcePath {
  readonly file: YamlSource;
  readonly path: ConfigPath;
}

/** Collects what became of each setting. */
export class ImportReport {
  readonly entries: ReportEntry[] = [];

  /** Records that a setting has an equal here. */
  taken(at: SourcePath, remark: Remark): void {
    this.add("taken", at, remark);
  }

  /** Records that a setting was taken over, or is unnecessary, and behaves differently. */
  differs(at: SourcePath, remark: Remark): void {
    this.add("differs", at, remark);
  }

  /** Records that nothing was written for a setting. */
  missing(at: SourcePath, remark: Remark): void {
    this.add("missing", at, remark);
  }

  private add(outcome: ConfigImportOutcome, { file, path }: SourcePath, { target, text }: Remark): void {
    const { line } = file.placeOf(path);
    const source = path.join(".");
    this.entries.push({ outcome, file: file.file, line, source, target: target ?? null, text });
  }
}
