/** Where the gateway marks a prompt for the vendor's cache, if the client marked nothing. */
export interface CacheMarking {
  /** Whether to mark the end of the prefix that requests of one kind share: the instructions, or else the tools. */
  readonly shared: boolean;
  /** Whether to mark the end of the latest turns. */
  readonly turns: boolean;
}

/** How an endpoint caches prompts by marks. */
export interface MarkedCache {
  /** Prompts below this number of tokens are not cached. */
  readonly minTokens: number;
  /** Whether the vendor documents that its cache complies with zero data retention. */
  readonly keepsZeroRetention: boolean;
}

/** The facts that decide whether marks in a prompt are worth their cost. */
export interface CacheableShape {
  /** Whether the client set marks itself, or says that it does. */
  readonly hasMarks: boolean;
  /** How often the model has answered in the conversation. */
  readonly answers: number;
  /** Bytes of instructions and tools, which requests of one kind share. */
  readonly sharedBytes: number;
  /** Bytes after the last answer. */
  readonly newBytes: number;
}

/**
 * Maximum number of cache marks of a request, in the formats that have them
 * (https://platform.claude.com/docs/en/build-with-claude/prompt-caching,
 * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html, 2026-11-28).
 */
export const MAX_CACHE_MARKS = 4;

/** The name of the field that marks a part of a prompt, as it stands in JSON. */
export const CACHE_CONTROL: Buffer = Buffer.from('"cache_control"');

/**
 * Blocks between two marks. Vendors look for a cached beginning at most 20 blocks before a mark (same sources), which must reach back to the
 * mark of the request before.
 */
const BLOCKS_BETWEEN_MARKS = 15;

/** The blocks of a message that become blocks of the vendor's prompt. */
export interface MarkableMessage {
  readonly isAssistant: boolean;
  /** Whether each block may be marked: not reasoning, and no empty text. */
  readonly blocks: readonly boolean[];
}

/** A block that gets a mark. */
export interface MarkedBlock {
  readonly message: number;
  readonly block: number;
}

/**
 * Returns the blocks at which the turns of a conversation are marked: the last block, and further blocks in the part that is new since the
 * previous request. A prefill at the end is not marked, because it changes.
 */
export function placeTurnMarks(messages: readonly MarkableMessage[]): readonly MarkedBlock[] {
  const end = messages.findLastIndex(({ isAssistant }) => !isAssistant) + 1;
  const places = messages
    .slice(0, end)
    .flatMap(({ blocks }, message) => blocks.map((mayMark, block) => ({ message, block, mayMark })));
  const last = places.findLastIndex(({ mayMark }) => mayMark);
  if (last < 0) return [];
  const marked: MarkedBlock[] = [];
  const first = countSentBlocks(messages, end) + BLOCKS_BETWEEN_MARKS - 1;
  for (let at = first; at < last && marked.length < MAX_CACHE_MARKS - 2; at += BLOCKS_BETWEEN_MARKS) {
    const near = places.findLastIndex(({ mayMark }, place) => mayMark && place <= at);
    if (near >= 0) marked.push(places[near] as MarkedBlock);
  }
  return [...marked, places[last] as MarkedBlock].map(({ message, block }) => ({ message, block }));
}

/** Returns the number of blocks of the previous request, which ended before the last answer. */
function countSentBlocks(messages: readonly MarkableMessage[], end: number): number {
  let answer = messages.findLastIndex(({ isAssistant }, at) => isAssistant && at < end);
  while (answer > 0 && messages[answer - 1]?.isAssistant === true) answer -= 1;
  let blocks = 0;
  for (let at = 0; at < answer; at++) blocks += messages[at]?.blocks.length ?? 0;
  return blocks;
}
