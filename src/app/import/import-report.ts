import type { ConfigPath, ConfigPlace } from "../config/config-error.ts";
import type { YamlSource } from "../config/yaml-source.ts";

/** The result of importing a setting of the other gateway. A model that is `unpriced` costs nothing. */
export type ConfigImportOutcome = "taken" | "differs" | "missing" | "unpriced";

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

/** What became of a setting. */
export interface SettingResult extends Remark {
  readonly outcome: Exclude<ConfigImportOutcome, "unpriced">;
}

/** What becomes of a setting or a field that works otherwise here, and of which nothing is lost. */
export const differs = (text: string): SettingResult => ({ outcome: "differs", text });

/** What becomes of a setting or a field that is lost, and what to do in its place. */
export const missing = (text: string): SettingResult => ({ outcome: "missing", text });

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

  /** Records the same once for all settings that it is true of. */
  onceDiffers(at: SourcePath, remark: Remark): void {
    if (!this.entries.some(({ text }) => text === remark.text)) this.differs(at, remark);
  }

  /** Records that nothing was written for a setting. */
  missing(at: SourcePath, remark: Remark): void {
    this.add("missing", at, remark);
  }

  /** Records that a model was taken over without a price. */
  unpriced(at: SourcePath, remark: Remark): void {
    this.add("unpriced", at, remark);
  }

  /** Records what became of something at a place, which `source` names. */
  atPlace(
    outcome: ConfigImportOutcome,
    { file, line }: ConfigPlace,
    { source, target, text }: Remark & { readonly source: string },
  ): void {
    this.entries.push({ outcome, file, line, source, target: target ?? null, text });
  }

  private add(outcome: ConfigImportOutcome, { file, path }: SourcePath, remark: Remark): void {
    this.atPlace(outcome, file.placeOf(path), { ...remark, source: path.join(".") });
  }
}
