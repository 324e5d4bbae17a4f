import type { ThreadAnswer } from "./messages.ts";
import type { StartStoreThread } from "./store-thread.ts";

/** Starts a thread of a database as a worker. */
export const startStoreWorker: StartStoreThread = ({ onAnswer, onBroken }) => {
  const worker = new Worker(new URL("./store-worker.ts", import.meta.url));
  worker.unref();
  worker.onmessage = ({ data }: MessageEvent<ThreadAnswer>) => {
    onAnswer(data);
    if (data.kind === "closed") worker.terminate();
  };
  worker.onerror = ({ message }) => onBroken(`its thread has failed: ${message}`);
  worker.addEventListener("close", () => onBroken("its thread has ended"));
  return {
    post: (message) => worker.postMessage(message),
    hold: (isNeeded) => (isNeeded ? worker.ref() : worker.unref()),
    stop: () => worker.terminate(),
  };
};
