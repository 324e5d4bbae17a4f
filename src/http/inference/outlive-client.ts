/**
 * Returns a stream that is read to its end even if the client leaves: the answer to a repeatable request is produced once. Its bounds are
 * those of the source.
 */
export function outliveClient(source: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel() {
      void readRest(() => reader.read());
    },
  });
}

/** Reads a stream to its end. Its failure was recorded where it occurred, and no client is left to be told. */
async function readRest(read: () => Promise<{ readonly done: boolean }>): Promise<void> {
  try {
    while (!(await read()).done);
  } catch {
    // The generation has ended.
  }
}

/** A client that never leaves, from the view of a generation. */
export const NEVER_LEAVES = new AbortController().signal;
