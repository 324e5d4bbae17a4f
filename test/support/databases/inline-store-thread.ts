import type { ThreadMessage } from "../../../src/storage/sqlite/threads/messages.ts";
import { serveStores } from "../../../src/storage/sqlite/threads/serve-stores.ts";
import type { StartStoreThread } from "../../../src/storage/sqlite/threads/store-thread.ts";

/**
 * A "thread" of SQLite that works in the thread of the test: for tests that control the clock, in which a number of turns of the event
 * loop must be enough for a call, and for those that start many gateways. Messages are copied as between threads.
 */
export const startInlineThread: StartStoreThread = ({ onAnswer }) => {
  const serve = serveStores((answer) => onAnswer(structuredClone(answer)));
  let last = Promise.resolve();
  return {
    post(message: ThreadMessage) {
      const copy = structuredClone(message);
      last = last.then(() => serve(copy));
    },
    hold() {},
    stop() {},
  };
};
