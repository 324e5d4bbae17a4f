import { brokenAnswer, type VendorError } from "./vendor-error.ts";

/** Errors for upstream answers that cannot be used. The same fault has the same message in every format. */

export const EVENT_NOT_JSON: VendorError = brokenAnswer("an event of the upstream's stream is not JSON");
export const EVENT_UNREADABLE: VendorError = brokenAnswer("an event of the upstream's stream cannot be read");
export const ANSWER_NOT_JSON: VendorError = brokenAnswer("the upstream's answer is not JSON");
export const ANSWER_UNREADABLE: VendorError = brokenAnswer("the upstream's answer cannot be read");
export const ANSWER_CUT_OFF: VendorError = brokenAnswer("the upstream's answer ended before it was complete");
export const ANSWER_RESTARTED: VendorError = brokenAnswer(
  "the upstream restarted its answer before it was complete",
);
export const TOO_MANY_CHOICES: VendorError = brokenAnswer("the upstream's answer has too many choices");
export const NO_CHOICES: VendorError = brokenAnswer("the upstream's answer has no choices");

/** The error for an event of the stream that is larger than `maxBytes`. */
export function eventTooLarge(maxBytes: number): VendorError {
  return brokenAnswer(`an event of the upstream's stream is larger than ${maxBytes} bytes`);
}

/** The error for a finish reason that reports a failure; `native` is the vendor's word, `detail` follows it. */
export function failedFinish(native: string, detail = ""): VendorError {
  return brokenAnswer(`the upstream ended the answer with "${native}"${detail}`);
}

/** The error for an answer that is larger than `maxBytes`. */
export function answerTooLarge(maxBytes: number): VendorError {
  return brokenAnswer(`the upstream's answer is larger than ${maxBytes} bytes`);
}
