import type { LocalResponseMemory } from "../../core/response-objects/local-responses.ts";

/** The bounds of open WebSockets, each for one process. */
export interface SocketLimits {
  /** Of all together. 0: none is accepted. */
  readonly total: number;
  readonly perKey: number;
  /** Of the clients at one address that have no key. */
  readonly perAddress: number;
}

/** Counts WebSockets and their frames since the start. */
export interface SocketCounts {
  open: number;
  received: number;
  sent: number;
}

/** What WebSockets need. */
export interface SocketDeps {
  readonly limits: SocketLimits;
  /** Where the last responses of connections are kept. */
  readonly memory: LocalResponseMemory;
  readonly counts: SocketCounts;
}
