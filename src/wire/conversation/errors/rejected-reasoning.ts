import type { VendorError } from "./vendor-error.ts";

/** Messages for reasoning that differs from what the vendor had sent. */
const REJECTIONS: readonly RegExp[] = [
  // Anthropic, and Bedrock for it.
  /invalid `?signature`? in `?thinking`? block/i,
  /`?(redacted_)?thinking`? blocks?.{0,80}cannot be modified/is,
  /invalid `?data`? in `?redacted_thinking`? block/i,
  // Gemini.
  /thought[ _]signature.{0,40}(not valid|invalid|corrupted)|(invalid|corrupted) thought[ _]signature/i,
  // OpenAI.
  /encrypted content.{0,80}could not be (verified|decrypted)/is,
  /item 'rs_\w+' of type 'reasoning' was provided without its required following item/i,
  /item '\w+' of type '\w+' was provided without its required 'reasoning' item/i,
  /(reasoning item|item with id) '?rs_\w+'? .{0,40}not found/i,
];

/** Whether a vendor rejected a request because of the reasoning in it, so that it may succeed without it. */
export function rejectsReasoning({ status, message }: VendorError): boolean {
  return status >= 400 && status < 500 && REJECTIONS.some((pattern) => pattern.test(message));
}
