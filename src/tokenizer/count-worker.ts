/** The worker with the tokenizer. Its tables take half a second and 110 MB to load, which would block the event loop. */
import { clearMergeCache, countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { countText } from "./count-text.ts";
import type { CountingAnswer, CountingJob } from "./counting-thread.ts";
import { readText } from "./read-text.ts";

declare const self: Worker;

/** Special tokens in the text count as ordinary text. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

self.onmessage = ({ data }: MessageEvent<CountingJob>) => {
  let at = 0;
  const counts = data.lengths.map((length) => {
    const text = readText(data.bytes.subarray(at, at + length));
    at += length;
    return countText(text, (piece) => countTokens(piece, AS_TEXT));
  });
  // The cache would retain text of the request.
  clearMergeCache();
  const answer: CountingAnswer = { counts };
  self.postMessage(answer);
};
