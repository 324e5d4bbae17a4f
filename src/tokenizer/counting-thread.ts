/** A message to the thread: concatenated texts and their lengths. */
export interface CountingJob {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lengths: readonly number[];
}

/** The answer of the thread: the tokens of each text. */
export interface CountingAnswer {
  readonly counts: readonly number[];
}

/** A thread that counts one job after the other. */
export interface CountingThread {
  /** Transfers the bytes: they cannot be used here afterwards. */
  send(job: CountingJob): void;
  stop(): void;
}

/** Callbacks of a thread. */
export interface ThreadEvents {
  readonly onAnswer: (answer: CountingAnswer) => void;
  /** Called when the thread has failed. */
  readonly onBroken: () => void;
}

/** Starts a thread with the tokenizer in it. It does not keep the process alive. */
export function startCountingThread({ onAnswer, onBroken }: ThreadEvents): CountingThread {
  const worker = new Worker(new URL("./count-worker.ts", import.meta.url).href);
  worker.unref();
  worker.onmessage = ({ data }: MessageEvent<CountingAnswer>) => onAnswer(data);
  worker.onerror = onBroken;
  worker.addEventListener("close", onBroken);
  return {
    send: (job) => worker.postMessage(job, [job.bytes.buffer]),
    stop: () => worker.terminate(),
  };
}
