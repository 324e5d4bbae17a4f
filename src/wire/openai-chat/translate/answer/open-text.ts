import type { PartEmitter } from "../../../canonical/answer/answer-emitter.ts";
import type { Part, TextPart } from "../../../canonical/model/parts.ts";

/** Returns the start of a text. */
export function startText(): TextPart {
  return { kind: "text", text: "" };
}

/** The text, refusal or reasoning of a choice that is open; there is at most one. */
export class OpenText {
  private at = -1;
  /** The key of the open text: its kind and, for reasoning, its detail. Deltas with the same key continue it. Null if none is open. */
  key: string | null = null;

  constructor(private readonly parts: PartEmitter) {}

  /** Returns the index of the open part with this key. Where another or none is open, starts it with `begin`. */
  open(key: string, begin: () => Part): number {
    if (this.key === key) return this.at;
    this.close();
    this.at = this.parts.open(begin());
    this.key = key;
    return this.at;
  }

  /** Ends the open part, if there is one. */
  close(): void {
    if (this.key !== null) this.parts.close(this.at);
    this.key = null;
  }
}
