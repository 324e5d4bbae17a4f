import {
  allFields,
  decodeUtf8,
  encodeLatin1,
  fields,
  items,
  LEAF,
  type NodeOf,
  scanJson,
  sliceOf,
  stringOf,
} from "../../../base/json/scan.ts";
import { removeMembers, type Splice, setMember } from "../../../base/json/splice.ts";

/** What a response says of its state, by field. */
export interface StateFields {
  readonly store: boolean;
  readonly background: boolean;
  readonly previous_response_id: string | null;
  readonly conversation: { readonly id: string } | null;
}

/** A response that has ended. */
export interface EndedResponse {
  readonly status: string;
  /** Its items as JSON. */
  readonly output: readonly string[];
  /** The response as the client gets it, without its items. JSON. */
  readonly response: string;
}

const RESPONSE = allFields({ status: LEAF, output: items(LEAF) });
const EVENT = fields({ type: LEAF, response: RESPONSE });
const ITEM_EVENT = fields({ item: LEAF });
const ITEM_ENDED = "event: response.output_item.done\ndata: ";

/** Returns the item that ends with an event, as JSON; null for another event. `event` is bytes as Latin-1. */
export function readEndedItem(event: string): string | null {
  if (!event.startsWith(ITEM_ENDED)) return null;
  const data = event.slice(ITEM_ENDED.length);
  const { item } = scanJson(data, ITEM_EVENT).fields;
  return item === undefined ? null : decodeUtf8(sliceOf(data, item));
}

type ResponseNode = NodeOf<typeof RESPONSE>;

/**
 * Returns a response with what is known of its state. `text` is JSON, bytes as Latin-1.
 * @throws JsonSyntaxError.
 */
function setState(text: string, state: StateFields): string {
  return spliceText(text, listStateSplices(scanJson(text, RESPONSE), state));
}

/**
 * Returns the parts of a response that has ended. `text` is JSON, bytes as Latin-1.
 * @throws JsonSyntaxError.
 */
function readEnded(text: string): EndedResponse {
  return readEndedNode(text, scanJson(text, RESPONSE));
}

function readEndedNode(text: string, node: ResponseNode): EndedResponse {
  const own = text.slice(node.start, node.end);
  const root = scanJson(own, RESPONSE);
  const output = (root.fields.output?.items ?? []).map((item) => decodeUtf8(sliceOf(own, item)));
  const rest = spliceText(own, removeMembers(own, root, OUTPUT));
  return { status: stringOf(own, root.fields.status) ?? "", output, response: decodeUtf8(rest) };
}

const OUTPUT: ReadonlySet<string> = new Set(["output"]);

function listStateSplices(response: ResponseNode, state: StateFields): readonly Splice[] {
  return Object.entries(state).map(([name, value]) => setMember(response, name, JSON.stringify(value)));
}

/** Applies a few splices, which do not overlap, to bytes as Latin-1. */
function spliceText(text: string, splices: readonly Splice[]): string {
  let out = "";
  let from = 0;
  for (const { start, end, insert } of splices.toSorted((a, b) => a.start - b.start)) {
    out += text.slice(from, start) + encodeLatin1(insert);
    from = end;
  }
  return out + text.slice(from);
}

/** What one piece of a stream became. */
export interface StatePiece {
  /** The events that can be sent at once, bytes as Latin-1. */
  readonly out: string;
  /** The last event, and the response that has ended with it; null if the stream goes on. */
  readonly last: LastEvent | null;
  /** What follows the last event: the end of the stream. */
  readonly after: string;
}

/** The end of an answer: the last event of a stream, or the whole of it. */
export interface LastEvent {
  readonly ended: EndedResponse;
  /** Returns it with what is finally known of the state, bytes as Latin-1. */
  encode(state: StateFields): string;
}

/** Changes what an answer becomes. */
export interface AnswerShaper {
  shape(piece: StatePiece): StatePiece;
}

/** Reads a whole answer, which is JSON, bytes as Latin-1. @throws JsonSyntaxError. */
export function readWhole(text: string, state: StateFields): LastEvent {
  const known = setState(text, state);
  return { ended: readEnded(known), encode: (final) => setState(known, final) };
}

/** How the events that contain the response begin, as the gateway writes them. Others are copied. */
const WITH_RESPONSE = /^event: response\.(created|queued|in_progress|completed|incomplete|failed)\ndata: /;
const LAST: ReadonlySet<string> = new Set(["completed", "incomplete", "failed"]);
const BLANK_LINE = "\n\n";

/**
 * Puts what is known of a response's state into the events of a stream that the gateway has written, and holds the last event back until the
 * response is stored. Keep-alives and all other events are copied.
 */
export class StateStream {
  /** The beginning of an event whose end has not arrived. The pieces are joined only then, so that a large event costs linear time. */
  private held: string[] = [];
  /** The first event with the response, as it was sent. */
  private first: string | null = null;

  /** `shaper` changes what was read; null: nothing does. */
  constructor(
    private readonly state: StateFields,
    private readonly shaper: AnswerShaper | null = null,
  ) {}

  /** Reads a piece, bytes as Latin-1. Only the end of the stream may follow the last event. */
  read(piece: string): StatePiece {
    const joint = piece.startsWith("\n") && this.held.at(-1)?.endsWith("\n");
    if (!joint && !piece.includes(BLANK_LINE)) {
      this.held.push(piece);
      return { out: "", last: null, after: "" };
    }
    const text = this.held.join("") + piece;
    this.held = [];
    const taken = this.take(text);
    return this.shaper === null ? taken : this.shaper.shape(taken);
  }

  /** Returns the response as it began, without its items, as JSON; null before it has begun. */
  readBegun(): string | null {
    if (this.first === null) return null;
    const { response } = scanJson(this.first, EVENT).fields;
    return response === undefined ? null : readEndedNode(this.first, response).response;
  }

  private take(text: string): StatePiece {
    let out = "";
    let from = 0;
    for (let end = text.indexOf(BLANK_LINE); end >= 0; end = text.indexOf(BLANK_LINE, from)) {
      const event = text.slice(from, end + BLANK_LINE.length);
      from = end + BLANK_LINE.length;
      const [begin, kind] = WITH_RESPONSE.exec(event) ?? [];
      if (begin === undefined || kind === undefined) {
        out += event;
        continue;
      }
      const changed = setEventState(event.slice(begin.length), this.state);
      if (LAST.has(kind)) return { out, last: readLast(begin, changed), after: text.slice(from) };
      this.first ??= changed;
      out += begin + changed;
    }
    if (from < text.length) this.held.push(text.slice(from));
    return { out, last: null, after: "" };
  }
}

function setEventState(data: string, state: StateFields): string {
  const { response } = scanJson(data, EVENT).fields;
  return response === undefined ? data : spliceText(data, listStateSplices(response, state));
}

/** Returns the response that ends with an event, which is bytes as Latin-1; null for another event. */
export function readLastEvent(event: string): EndedResponse | null {
  const [begin, kind] = WITH_RESPONSE.exec(event) ?? [];
  if (begin === undefined || kind === undefined || !LAST.has(kind)) return null;
  return readLast(begin, event.slice(begin.length)).ended;
}

function readLast(begin: string, data: string): LastEvent {
  const { response } = scanJson(data, EVENT).fields;
  if (response === undefined) throw new Error("the last event has no response");
  return {
    ended: readEndedNode(data, response),
    encode: (state) => begin + setEventState(data, state),
  };
}
