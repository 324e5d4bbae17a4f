/** The memory of a request that reads kept responses, which the budget of its caller counts until it has ended. */
export interface StateMemory {
  /** Counts bytes that the request holds. @throws GatewayError `unavailable`, `rate_limit_exceeded`. */
  take(bytes: number): void;
  giveBack(bytes: number): void;
}

/** How often the bytes of objects are in memory while they are read: encrypted, decrypted, as texts, and as one text. */
const READ_COPIES = 4;

/** Reads contents of so many bytes, and counts the memory that this takes until it is done. @throws GatewayError as `take`. */
export async function whileReading<Read>(
  memory: StateMemory,
  bytes: number,
  read: () => Promise<Read>,
): Promise<Read> {
  const taken = bytes * READ_COPIES;
  memory.take(taken);
  try {
    return await read();
  } finally {
    memory.giveBack(taken);
  }
}
