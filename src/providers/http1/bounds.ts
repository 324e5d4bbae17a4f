/** The bounds of an HTTP/1.1 transport. Sizes are in bytes, times in milliseconds. */
export interface Http1Bounds {
  /** Status line and headers together. Trailers of a chunked body have the same bound. */
  readonly headBytes: number;
  /** Header lines of one head. */
  readonly headerCount: number;
  /** The line with a chunk's size, including extensions. */
  readonly chunkLineBytes: number;
  /** Number of 1xx heads before the answer. */
  readonly interimHeads: number;
  /** Unread body bytes above which the socket is paused. One more socket read may exceed it. */
  readonly unreadBytes: number;
  /** The number of unread pieces at which the socket is paused, because each piece takes memory in addition to its bytes. */
  readonly unreadPieces: number;
  /** Socket receive buffer, where the system supports it; 0 for the default of the system. */
  readonly systemBufferBytes: number;
  /** How long an idle connection is kept. */
  readonly idleMs: number;
  readonly idlePerOrigin: number;
  readonly idleTotal: number;
  /** How long a connection must be silent after an answer before its reuse, until its origin is trusted. */
  readonly probationMs: number;
  /** Bytes on an idle connection within this time after its last answer count as sent after that answer. */
  readonly strayMs: number;
  /** How long connections are not reused after their origin sent bytes after an answer. */
  readonly distrustMs: number;
}

/** The default bounds of a transport. */
export const DEFAULT_BOUNDS: Http1Bounds = {
  headBytes: 64 * 1024,
  headerCount: 256,
  chunkLineBytes: 4096,
  interimHeads: 16,
  unreadBytes: 64 * 1024,
  unreadPieces: 1024,
  systemBufferBytes: 128 * 1024,
  idleMs: 60_000,
  idlePerOrigin: 128,
  idleTotal: 512,
  probationMs: 100,
  strayMs: 1_000,
  distrustMs: 60_000,
};
