import type { Fields } from "../../../../base/json/fields.ts";
import type { PartDelta } from "../../../canonical/model/answer.ts";

/** Encodes a part of a streamed answer. Each method returns the delta to send, or null for none. */
export interface ChatPartWriter {
  /** Whether the part is a text, whose deltas may be encoded around a known chunk. */
  readonly isText: boolean;
  start(): Fields | null;
  append(delta: PartDelta): Fields | null;
  end(): Fields | null;
}
