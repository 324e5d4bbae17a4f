import { Linked, LinkedSet } from "../../base/collections/linked-set.ts";
import type { ItemBytes } from "../../wire/openai-responses/socket/join-connection.ts";

/**
 * The last responses of one WebSocket connection. They are kept in memory only, so that a request can continue a response that is not
 * stored. A connection keeps the last response of each of its streams.
 */
export interface LocalResponses {
  /** Finds a response; null if it is not kept on this connection. */
  find(id: string): LastResponse | null;
  /** Keeps a response, in place of the former one of its stream. Too large ones are not kept. */
  keep(id: string, response: LastResponse, stream?: string): void;
  /** Drops a response, because the request of its stream that continued it has failed. Other streams may still continue it. */
  evict(id: string, stream?: string): void;
}

/** A response that can be continued. */
export interface LastResponse {
  /** All items of the conversation up to and including the response. */
  readonly items: ItemBytes;
  /** Whether the store has it as well. */
  readonly isStored: boolean;
}

/** The bounds of what is kept, in bytes. */
export interface LocalBounds {
  /** Of one conversation. */
  readonly chainBytes: number;
  /** Of all connections together. */
  readonly totalBytes: number;
}

/** The name of the stream of requests that name none. */
const UNNAMED = "";
/** The most streams of a connection whose last response is kept: OpenAI accepts 32 names. */
const MAX_STREAMS = 33;
/** The memory of a buffer besides its bytes. */
const BUFFER_BYTES = 128;

/** The memory of the last responses of all connections. If it is full, the response that was kept first is dropped. */
export class LocalResponseMemory {
  private readonly kept = new LinkedSet<LocalResponse>();
  private bytes = 0;

  constructor(private readonly bounds: LocalBounds) {}

  /** How much memory all kept responses take. */
  get heldBytes(): number {
    return this.bytes;
  }

  /** Begins to keep responses of a connection. */
  open(): ConnectionResponses {
    return new ConnectionResponses(this);
  }

  /** Adds a response, and drops those of other connections for which there is no room left. Returns false if it is too large itself. */
  add(response: LocalResponse): boolean {
    if (response.bytes > Math.min(this.bounds.chainBytes, this.bounds.totalBytes)) return false;
    this.kept.add(response);
    this.bytes += response.bytes;
    for (
      let { first } = this.kept;
      first !== null && this.bytes > this.bounds.totalBytes;
      first = this.kept.first
    )
      first.owner.drop(first);
    return true;
  }

  remove(response: LocalResponse): void {
    if (this.kept.delete(response)) this.bytes -= response.bytes;
  }
}

/** A kept response. Conversations of several turns share the buffers of their first turns, which then count each time. */
class LocalResponse extends Linked {
  readonly bytes: number;

  constructor(
    readonly owner: ConnectionResponses,
    readonly id: string,
    readonly stream: string,
    readonly last: LastResponse,
  ) {
    super();
    this.bytes = last.items.reduce((sum, { length }) => sum + length + BUFFER_BYTES, 0);
  }
}

/** The last responses of a connection. */
export class ConnectionResponses implements LocalResponses {
  /** By stream. The one that was kept first comes first. */
  private readonly last = new Map<string, LocalResponse>();

  constructor(private readonly memory: LocalResponseMemory) {}

  find(id: string): LastResponse | null {
    return [...this.last.values()].find((response) => response.id === id)?.last ?? null;
  }

  keep(id: string, last: LastResponse, stream = UNNAMED): void {
    this.drop(this.last.get(stream));
    if (this.last.size >= MAX_STREAMS) this.drop(this.last.values().next().value);
    const response = new LocalResponse(this, id, stream, last);
    this.last.set(stream, response);
    if (!this.memory.add(response)) this.last.delete(stream);
  }

  evict(id: string, stream = UNNAMED): void {
    const response = this.last.get(stream);
    if (response?.id === id) this.drop(response);
  }

  /** Drops all responses, because the connection has ended. */
  close(): void {
    for (const response of [...this.last.values()]) this.drop(response);
  }

  /** Drops a response of this connection, if there is one. */
  drop(response: LocalResponse | undefined): void {
    if (response === undefined) return;
    this.memory.remove(response);
    if (this.last.get(response.stream) === response) this.last.delete(response.stream);
  }
}
