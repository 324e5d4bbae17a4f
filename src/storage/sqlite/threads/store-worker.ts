/** The worker of a thread of a SQLite database: a statement blocks its thread as long as it takes. */
import type { ThreadMessage } from "./messages.ts";
import { serveStores } from "./serve-stores.ts";

declare const self: Worker;

const serve = serveStores((answer) => self.postMessage(answer));
/** Calls are made in their order. */
let last = Promise.resolve();

self.onmessage = ({ data }: MessageEvent<ThreadMessage>) => {
  last = last.then(() => serve(data));
};
