import type { SocketAddress } from "bun";
import { INTERNAL } from "../../base/failures/errors.ts";
import type { ConnectionResponses } from "../../core/response-objects/local-responses.ts";
import type { SocketEvents, SocketFrame } from "../../wire/client-apis/socket-format.ts";
import { SocketTurn } from "../context/socket-turn.ts";
import { encodeErrorResponse, encodeFailure } from "./encode-failure.ts";
import type { FrameRequests } from "./frame-request.ts";
import { relayFrames, type StreamReader } from "./relay-frames.ts";
import type { SocketRoute } from "./socket-route.ts";
import type { SocketWriter } from "./socket-writer.ts";

/** The parts of a connection that answer its frames. */
export interface AnsweringParts {
  readonly route: SocketRoute;
  readonly requests: FrameRequests;
  readonly responses: ConnectionResponses;
  readonly peer: SocketAddress | null;
}

/**
 * Answers a frame as a request over HTTP, and sends the answer as frames. Resolves when it was sent, or when the client has left. Rejects if
 * the answer breaks off, so that the connection must be closed.
 */
export async function answerFrame(
  parts: AnsweringParts,
  { frame, signal }: { readonly frame: Buffer; readonly signal: AbortSignal },
  writer: SocketWriter,
): Promise<void> {
  const { route, requests, responses, peer } = parts;
  const turn = new SocketTurn(route.format, responses);
  const response = await route.answer(requests.make(frame, signal), turn, peer);
  if (turn.frame !== null && response.ok && response.body !== null) {
    const events = route.format.openEvents(turn.frame);
    const reader = response.body.getReader();
    await whileConnected(reader, { signal, writer }, () =>
      relayFrames(reader, { events, writer, onEnd: (end) => keepEnd(parts, turn, end) }),
    );
    if (events.end === null && !signal.aborted) writer.send(encodeFailure(route, BROKEN_OFF));
    return;
  }
  const named = turn.frame ?? readIfSmall(parts, frame);
  if (named?.previousId != null) responses.evict(named.previousId, named.streamId ?? undefined);
  const text = await encodeErrorResponse(route, response, named?.streamId ?? null);
  if (!signal.aborted) writer.send(text);
}

/** An answer always ends with an event that says so. */
const BROKEN_OFF = { code: "internal", message: INTERNAL } as const;

/** Cancels a stream when the client leaves or does not read, and if it is not read to its end. */
async function whileConnected(
  reader: Pick<StreamReader, "cancel">,
  { signal, writer }: { readonly signal: AbortSignal; readonly writer: SocketWriter },
  relay: () => Promise<boolean>,
): Promise<void> {
  const cancel = (reason: "client_left" | "client_stalled"): void =>
    void reader.cancel(reason).catch(() => {});
  const leave = (): void => cancel("client_left");
  signal.addEventListener("abort", leave);
  writer.onStalled = () => cancel("client_stalled");
  try {
    if (signal.aborted || !(await relay())) leave();
  } finally {
    signal.removeEventListener("abort", leave);
    writer.onStalled = null;
  }
}

/** Keeps a response that can be continued. A failed one ends what it has continued. */
function keepEnd(
  { responses }: AnsweringParts,
  { frame, conversation }: SocketTurn,
  { id, output, isStored }: NonNullable<SocketEvents["end"]>,
): void {
  const stream = frame?.streamId ?? undefined;
  if (output !== null && conversation !== null)
    responses.keep(id, { items: [...conversation, output], isStored }, stream);
  else if (frame?.previousId != null) responses.evict(frame.previousId, stream);
}

/** Larger frames that were rejected before they were read are not read afterwards. Bytes. */
const SMALL_BYTES = 1024 * 1024;

/** Reads what a rejected frame names; null if it is not valid. */
function readIfSmall({ route, responses }: AnsweringParts, frame: Buffer): SocketFrame | null {
  if (frame.length > SMALL_BYTES) {
    // It may have continued any of them.
    responses.close();
    return null;
  }
  try {
    return route.format.readFrame(frame);
  } catch {
    return null;
  }
}
