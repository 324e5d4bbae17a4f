/**
 * Counts the tokens of text off the event loop, with one tokenizer for all (`o200k_base`);
 * `routing/tokenizer-families` relates its counts to other tokenizers.
 */
export interface TokenCounter {
  /**
   * Counts the tokens of each text. A text is a JSON string as in a request body (UTF-8), or a part of one. Its bytes are
   * read later, so they must not change until the promise settles. Never rejects: resolves to null if too many requests
   * wait, counting took too long, or the thread has failed.
   */
  count(texts: readonly Uint8Array[]): Promise<readonly number[] | null>;
  close(): void;
}
