import type { ModelTarget } from "../canonical/format.ts";
import type { Warning } from "../conversation/warning.ts";
import type { SchemaBudget } from "../json-schema/lowering.ts";

/** A request on its way into this format. */
export interface Encoding {
  readonly target: ModelTarget;
  readonly warnings: Warning[];
  readonly schemas: SchemaBudget;
}

export type GeminiPart = Readonly<Record<string, unknown>>;

/** Names what was left out or sent otherwise. */
export function warn({ warnings }: Encoding, field: string, message: string): void {
  warnings.push({ field, message });
}

/** Whether the model is a Gemini 3 or newer: those are steered by levels. */
export function hasLevels({ target }: Encoding): boolean {
  return (target.reasoning?.efforts?.length ?? 0) > 0;
}
