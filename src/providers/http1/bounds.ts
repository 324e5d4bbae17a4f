/** Limits of one HTTP/1.1 transport. Sizes in bytes, times in milliseconds. */
export interface Http1Bounds {
  /** A status line with its headers; the trailers of a chunked body on their own. */
  readonly headBytes: number;
  /** Header lines of one head. */
  readonly headerCount: number;
  /** The line that carries a chunk's size, extensions included. */
  readonly chunkLineBytes: number;
  /** 1xx heads before the answer. */
  readonly interimHeads: number;
  /** Body that came and was not read. From here on the socket is not read either; one socket read may top it. */
  readonly unreadBytes: number;
  /** The same as a number of pieces: each costs memory beyond its bytes. */
  readonly unreadPieces: number;
  /** What the system buffers of one connection's answers, where it can be told; 0: as it likes. */
  readonly systemBufferBytes: number;
  /** How long a connection without an exchange is kept. */
  readonly idleMs: number;
  readonly idlePerOrigin: number;
  readonly idleTotal: number;
  /** How long a connection must be silent after an answer to be used again, until one to the same origin has been. */
  readonly probationMs: number;
  /** Bytes on an idle connection within this time of its last answer count as sent behind that answer. */
  readonly strayMs: number;
  /** How long connections to an origin that has sent bytes behind an answer are not used again. */
  readonly distrustMs: number;
}

/** The bounds of a transport whose caller names none. */
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
