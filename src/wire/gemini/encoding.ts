import type { ModelTarget, Warning } from "../canonical/format.ts";

/** A request on its way into this format. */
export interface Encoding {
  readonly target: ModelTarget;
  readonly warnings: Warning[];
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
