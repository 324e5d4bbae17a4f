import type { InferencePrincipal } from "../../core/accounts/records/principal.ts";
import type { GenerationCall } from "../../core/generation/call/call.ts";
import { limitHeaders } from "../../core/limits/limit-headers.ts";
import { warmUp } from "../../core/questions/warm-up.ts";
import type { OpenedState } from "../../core/response-objects/response-objects.ts";
import type { SocketFrame } from "../../wire/client-apis/socket-format.ts";
import {
  copyAddedItems,
  type ItemBytes,
  scanState,
} from "../../wire/openai-responses/socket/join-connection.ts";
import type { RequestContext } from "../context/context.ts";
import type { SocketTurn } from "../context/socket-turn.ts";
import { rejectSize, takeMemory } from "../middleware/read-body.ts";

/** A frame as it arrived, and its sender. */
interface Arrived {
  readonly sent: Buffer;
  readonly principal: InferencePrincipal;
}

/**
 * Returns the body of a request that arrived as a frame. If it continues a response of its connection, its input begins with the items of
 * that conversation. Otherwise the store is asked for the response.
 * @throws GatewayError `invalid_request`, `payload_too_large`, `unavailable`, `rate_limit_exceeded`.
 */
export async function readTurn(
  turn: SocketTurn,
  context: RequestContext,
  { sent, principal }: Arrived,
): Promise<Buffer> {
  if (sent.length > LARGE_BYTES) await context.deps.bodies.ownTurn();
  const frame = turn.format.readFrame(sent);
  turn.frame = frame;
  const earlier = findEarlier(turn, frame);
  const bound = sent.length + boundJoined(earlier);
  const { maxBodyBytes } = context.deps.bodies;
  if (bound > maxBodyBytes + JOIN_BYTES) rejectSize(maxBodyBytes);
  takeMemory(context, principal, bound);
  const body = frame.readBody(earlier);
  const added = frame.copyAdded();
  turn.conversation = [...(earlier ?? []), added];
  // The frame is dropped. What is added to the conversation stays until the end.
  context.bodyShare?.giveBack(Math.max(0, sent.length + bound - body.length - added.length));
  return body;
}

/** Larger frames take milliseconds to scan, and are scanned in their own turn of the event loop. Bytes. */
const LARGE_BYTES = 256 * 1024;

/** The bytes around joined items, at most. */
const JOIN_BYTES = 256;

/** Returns the most bytes that earlier items add to a body, with their commas. */
function boundJoined(earlier: ItemBytes | null): number {
  return (earlier ?? []).reduce((sum, { length }) => sum + length + 1, JOIN_BYTES);
}

/**
 * Returns the items of the response that a frame continues; null for a new conversation, and for a response that is read from the store: one
 * that the connection does not have, and one that stays in a chain of the store.
 */
function findEarlier({ responses }: SocketTurn, { previousId, mayBeStored }: SocketFrame): ItemBytes | null {
  const last = previousId === null ? null : responses.find(previousId);
  return last === null || (last.isStored && mayBeStored) ? null : last.items;
}

/** Notes for the connection what a request with state stands for, once its chain was read. */
export function noteState(turn: SocketTurn, { body }: OpenedState): void {
  turn.conversation = [copyAddedItems(scanState(body))];
}

/**
 * Answers a request for which no model is called: it announces what the next request of its connection will send. Its model is checked as
 * for any request.
 */
export async function answerWarmUp(
  { format }: SocketTurn,
  { deps, trace, route, requestId }: RequestContext,
  call: GenerationCall,
): Promise<Response> {
  const limit = await warmUp(deps.generation, call);
  const { api, model } = call.request;
  trace?.end({ api, requestId, route, status: 200, failure: null, record: null });
  const createdAt = Math.floor(deps.clock.now() / 1_000);
  const events = format.answerWarmUp({ id: deps.ids.next("resp"), model, createdAt });
  return new Response(Buffer.from(events, "latin1"), {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      ...(limit === null ? {} : limitHeaders(limit)),
    },
  });
}
