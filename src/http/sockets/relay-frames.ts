import { BOUNDS } from "../../base/numbers/bounds.ts";
import { EventSplitter, type SplitEvent } from "../../base/sse/split-events.ts";
import { readLatin1 } from "../../base/text/decode-bytes.ts";
import { DONE_MARKER } from "../../wire/canonical/answer/event-stream.ts";
import type { SocketEvents } from "../../wire/client-apis/socket-format.ts";
import type { SocketWriter } from "./socket-writer.ts";

/** The last event has the whole answer, whose parts were events of their own. Bytes. */
const MAX_EVENT_BYTES = 2 * BOUNDS.answerBytes;

/** Reads a stream. */
export interface StreamReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(reason: "client_left" | "client_stalled"): Promise<void>;
}

/** Where an answer goes. */
interface Destination {
  readonly events: SocketEvents;
  readonly writer: SocketWriter;
  /** Called with the end of the response before its frame is sent. */
  readonly onEnd: (end: NonNullable<SocketEvents["end"]>) => void;
}

/** Returns events without the marker that ends a stream over HTTP: a WebSocket has a frame for each event only. */
function leaveOutEnd(events: readonly SplitEvent[]): readonly SplitEvent[] {
  const last = events.at(-1);
  const isMarker = last?.name === "" && last.text.slice(last.start, last.end) === DONE_MARKER;
  return isMarker ? events.slice(0, -1) : events;
}

/**
 * Sends a stream of events as frames, at the speed of the client. Returns whether all of it was sent; false if the client has left or is
 * disconnected.
 */
export async function relayFrames(
  reader: Pick<StreamReader, "read">,
  { events, writer, onEnd }: Destination,
): Promise<boolean> {
  const splitter = new EventSplitter(MAX_EVENT_BYTES);
  let isEnded = false;
  const readEvent = (event: SplitEvent): string => {
    const text = events.read(event);
    if (events.end !== null && !isEnded) {
      isEnded = true;
      onEnd(events.end);
    }
    return text;
  };
  for (;;) {
    if (writer.room !== null) await writer.room;
    const { done, value } = await reader.read();
    const found = leaveOutEnd(value === undefined ? splitter.end() : splitter.push(readLatin1(value)));
    for (let sent = 0; sent < found.length; ) {
      if (writer.room !== null) await writer.room;
      sent = writer.sendTogether(found, sent, readEvent);
      if (writer.isClosed) return false;
    }
    if (done) return true;
    if (splitter.isTooLarge) return false;
  }
}
