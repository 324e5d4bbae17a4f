import { fail, rejectField } from "../../../base/failures/errors.ts";
import { isFalse, isTrue, isWord, type JsonNode, memberOf, stringOf } from "../../../base/json/scan.ts";
import { applySplices, removeMembers, type Splice } from "../../../base/json/splice.ts";
import { isAbsent } from "../../conversation/check-nodes.ts";
import {
  copyAddedItems,
  type ItemBytes,
  joinConnection,
  readPreviousId,
  type StatefulBody,
  scanState,
} from "./join-connection.ts";

/**
 * The frames of clients: a Responses request with `type` (openresponses.org, specification of 2026-04-24, "WebSocket Transport"). Codex
 * 0.169.0 also sends `stream: true` and `generate: false`; earlier versions acknowledge a response with `response.processed`
 * (openai/codex, codex-rs/codex-api/src/common.rs, read in November 2026). OpenAI's libraries may send `stream_id`
 * (developers.openai.com, guide "WebSocket mode", read in November 2026).
 */
const CREATE = "response.create";
const PROCESSED = "response.processed";
/** Longer frames are no acknowledgements, and are not parsed to find out. Characters. */
const ACKNOWLEDGEMENT_CHARS = 1_024;

/** Returns whether a frame only acknowledges a response, so that it gets no answer. */
export function isAcknowledgement(frame: string): boolean {
  if (frame.length > ACKNOWLEDGEMENT_CHARS || !frame.includes(PROCESSED)) return false;
  try {
    return (JSON.parse(frame) as { readonly type?: unknown } | null)?.type === PROCESSED;
  } catch {
    return false;
  }
}

/** The members of a frame that are no members of a request. */
const FRAME_MEMBERS = new Set(["stream", "stream_options", "background", "generate", "stream_id"]);

/** OpenAI's rule for names of streams. */
const STREAM_ID = /^[\w.-]{1,256}$/;

/**
 * Reads a frame that asks for a response.
 * @throws GatewayError `invalid_request` if it is not JSON, or no `response.create` that the specification allows.
 */
export function readFrame(bytes: Buffer): ResponsesFrame {
  const body = scanState(bytes);
  const type = memberOf(body.root, "type");
  if (type === undefined || !isWord(body.text, type, CREATE))
    return rejectField("type", `must be "${CREATE}"`);
  checkTransportFields(body);
  return new ResponsesFrame(body, type);
}

/** A frame that asks for a response. */
export class ResponsesFrame {
  /** The name of the stream that the answer belongs to; null if the client names none. */
  readonly streamId: string | null;
  /** The id of the response that is continued; null for a new conversation. */
  readonly previousId: string | null;
  /** Whether the response may be kept in the store, unless the operator keeps none. */
  readonly mayBeStored: boolean;
  /** Whether the request only announces what the next one will send, and no model is called. */
  readonly isWarmUp: boolean;

  constructor(
    private readonly body: StatefulBody,
    private readonly type: JsonNode,
  ) {
    this.streamId = readStreamId(body);
    this.previousId = readPreviousId(body);
    this.mayBeStored = !isFalse(body.text, memberOf(body.root, "store"));
    this.isWarmUp = isFalse(body.text, memberOf(body.root, "generate"));
  }

  /** Returns a copy of the items that the frame adds to its conversation. */
  copyAdded(): Buffer {
    return copyAddedItems(this.body);
  }

  /**
   * Returns the body of the request. `earlier` are the items of the response that is continued; null for a new conversation, and for a
   * response that is read from the store.
   * @throws GatewayError as `joinConnection`.
   */
  readBody(earlier: ItemBytes | null): Buffer {
    const { bytes, text, root } = this.body;
    const { keyStart, end } = this.type;
    const asStream: Splice = { start: keyStart, end, insert: '"stream":true' };
    if (earlier !== null)
      return joinConnection(this.body, earlier, { removed: FRAME_MEMBERS, edits: [asStream] });
    return applySplices(bytes, [asStream, ...removeMembers(text, root, FRAME_MEMBERS)]);
  }
}

/** Checks the fields that choose a transport over HTTP. The specification forbids them; values that change nothing are accepted. */
function checkTransportFields({ text, root }: StatefulBody): void {
  const of = (name: string) => memberOf(root, name);
  if (!isAbsent(of("stream")) && !isTrue(text, of("stream")))
    rejectField("stream", "must be left out: answers are always streamed over a WebSocket");
  if (!isAbsent(of("stream_options"))) rejectField("stream_options", "must be left out in a frame");
  if (!isAbsent(of("background")) && !isFalse(text, of("background")))
    rejectField("background", "must be left out in a frame. Send the request over HTTP");
  const generate = of("generate");
  if (!isAbsent(generate) && generate.kind !== "boolean") rejectField("generate", "must be true or false");
}

/** Returns the name of the stream; null if the frame names none. */
function readStreamId({ text, root }: StatefulBody): string | null {
  const node = memberOf(root, "stream_id");
  if (isAbsent(node)) return null;
  const id = stringOf(text, node);
  if (id !== undefined && STREAM_ID.test(id)) return id;
  return fail(
    "invalid_request",
    "stream_id must have 1 to 256 letters, digits, underscores, hyphens and periods.",
    { metadata: { field: "stream_id" } },
  );
}
