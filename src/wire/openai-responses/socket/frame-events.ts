import {
  decodeUtf8,
  fields,
  isTrue,
  type JsonNode,
  LEAF,
  scanJson,
  stringOf,
} from "../../../base/json/scan.ts";
import type { SplitEvent } from "../../../base/sse/split-events.ts";

/** How a response has ended. */
export interface ResponseEnd {
  readonly id: string;
  /** The items of the answer without the brackets around them, as JSON in UTF-8; null for a response that has failed. */
  readonly output: Buffer | null;
  /** Whether the store keeps it. */
  readonly isStored: boolean;
}

/** What the events of an answer must name that the request did not say any more when it was sent on. */
interface Continued {
  readonly streamId: string | null;
  readonly previousId: string | null;
}

/** The events with a whole response, by name: whether it has ended, and so that it can be continued. */
const WITH_RESPONSE: ReadonlyMap<string, "begun" | "ended" | "failed"> = new Map([
  ["response.created", "begun"],
  ["response.queued", "begun"],
  ["response.in_progress", "begun"],
  ["response.completed", "ended"],
  ["response.incomplete", "ended"],
  ["response.failed", "failed"],
]);

const EVENT = fields({
  response: fields({ id: LEAF, previous_response_id: LEAF, output: LEAF, store: LEAF }),
});

/** Makes frames of the events of one answer. Only the few events with a whole response are read. */
export class FrameEvents {
  /** Null until the last event. */
  end: ResponseEnd | null = null;
  /** What each event begins with. */
  private readonly start: string;

  constructor(private readonly frame: Continued) {
    this.start = frame.streamId === null ? "{" : `{"stream_id":${JSON.stringify(frame.streamId)},`;
  }

  /** Returns the text of the frame for an event. */
  read({ text, start, end, name }: SplitEvent): string {
    const data = text.slice(start, end);
    const state = WITH_RESPONSE.get(name);
    const told = state === undefined ? data : this.readResponse(data, state);
    return decodeUtf8(this.frame.streamId === null ? told : this.start + told.slice(1));
  }

  /** Returns an event with the id of the response that its response continues, and notes how the response has ended. */
  private readResponse(data: string, state: "begun" | "ended" | "failed"): string {
    const response = scanJson(data, EVENT).fields.response?.fields;
    if (response === undefined) return data;
    const { id, previous_response_id: previous, output, store } = response;
    if (state !== "begun")
      this.end = {
        id: stringOf(data, id) ?? "",
        output: state === "failed" ? null : innerBytes(data, output),
        isStored: isTrue(data, store),
      };
    const { previousId } = this.frame;
    if (previousId === null || previous === undefined) return data;
    return data.slice(0, previous.start) + JSON.stringify(previousId) + data.slice(previous.end);
  }
}

/** Returns the bytes between the brackets of a list. */
function innerBytes(data: string, list: JsonNode | undefined): Buffer {
  const inner = list?.kind === "array" ? data.slice(list.start + 1, list.end - 1).trim() : "";
  return Buffer.from(inner, "latin1");
}
