/** The worker of a database thread: a SQLite statement blocks its thread until it ends. */
import type { ThreadMessage } from "./messages.ts";
import { serveStores } from "./serve-stores.ts";

declare const self: Worker;

const serve = serveStores((answer) => self.postMessage(answer));
/** Calls are made in their order. */
let last = Promise.resolve();

self.onmessage = ({ data }: MessageEvent<ThreadMessage>) => {
  last = last.then(() => serve(data));
};
