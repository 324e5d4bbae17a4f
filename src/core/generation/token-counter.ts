/**
 * Counts the tokens of text off the event loop, with one tokenizer for all (`o200k_base`);
 * `routing/tokenizer-families` says what its counts mean for others.
 */
export interface TokenCounter {
  /**
   * The tokens of each text. A text is a JSON string as it stands in a body, UTF-8, or a cut of one; its bytes are
   * read later, so they must stay as they are until the promise settles. Never rejects: null where too many wait, or
   * it took too long, or the counter is out of order.
   */
  count(texts: readonly Uint8Array[]): Promise<readonly number[] | null>;
  close(): void;
}
