import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { ThreadAnswer } from "./messages.ts";
import type { StartStoreThread } from "./store-thread.ts";

/** Starts a thread of a database as a worker. */
export const startStoreWorker: StartStoreThread = ({ onAnswer, onBroken }) => {
  const worker = createWorker();
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

function createWorker(): Worker {
  const built = findBuiltWorker();
  return built === null ? new Worker(new URL("./store-worker.ts", import.meta.url)) : new Worker(built);
}

/**
 * Returns the worker that was built with the running program (`scripts/build/build-program.ts`). Its code is parsed already, so it starts
 * in half the time. Null if the program runs from its sources or is a single executable.
 */
function findBuiltWorker(): string | null {
  const folder = dirname(Bun.main);
  const built = join(folder, "store-worker.js");
  return basename(folder) === "program" && existsSync(built) ? built : null;
}
