import type { ModelTarget } from "../canonical/model/format.ts";
import type { Warning } from "../conversation/warning.ts";
import type { SchemaLowerer } from "../json-schema/lower-schema.ts";
import type { KnownCalls } from "./known-calls.ts";

/** The state that the encoders of one request share. */
export interface GeminiEncoding {
  readonly target: ModelTarget;
  readonly warnings: Warning[];
  readonly schemas: SchemaLowerer;
  /** Filled while the messages are encoded. */
  readonly calls: KnownCalls;
}

export type GeminiPart = Readonly<Record<string, unknown>>;

/** Warns the client of something that was left out or changed. */
export function warn({ warnings }: GeminiEncoding, field: string, message: string): void {
  warnings.push({ field, message });
}

/** Returns whether the model is Gemini 3 or newer: those take reasoning levels instead of budgets. */
export function hasLevels({ target }: GeminiEncoding): boolean {
  return (target.reasoning?.efforts?.length ?? 0) > 0;
}
