/** What a counting thread is sent: texts one behind the other. */
export interface CountingJob {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lengths: readonly number[];
}

/** What it answers: the tokens of each. */
export interface CountingAnswer {
  readonly counts: readonly number[];
}

/** A thread that counts one job after the other. */
export interface CountingThread {
  /** The bytes are gone from this thread afterwards. */
  send(job: CountingJob): void;
  stop(): void;
}

/** Who hears of a thread. */
export interface ThreadEars {
  readonly onAnswer: (answer: CountingAnswer) => void;
  /** It is of no use any more. */
  readonly onBroken: () => void;
}

/** Starts a thread with the tokenizer in it. It does not keep the process alive. */
export function startCountingThread({ onAnswer, onBroken }: ThreadEars): CountingThread {
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
