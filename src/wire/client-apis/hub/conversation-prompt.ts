import { hashNodes } from "../../../base/json/hash-nodes.ts";
import {
  isWord,
  itemsOf,
  type JsonNode,
  lookUp,
  memberOf,
  type WordTable,
  wordTable,
} from "../../../base/json/scan.ts";
import { CACHE_CONTROL, type CacheableShape } from "../../conversation/cache-marking.ts";
import { sizeOf, sliceTexts } from "../../conversation/prompt-nodes.ts";
import { findStoredReference } from "../../conversation/stored-data.ts";
import { countChars } from "../request/count-chars.ts";
import type { RequestPrompt, RequestRetention } from "../request/inference-request.ts";
import type { ConversationReading } from "./conversation-reading.ts";
import { BREAKPOINT } from "./forward-fit.ts";

/** The prompt of a conversation. */
export class ConversationPrompt implements RequestPrompt {
  readonly textBytes: number;
  readonly windowBytes: number;
  readonly mayHaveMedia: boolean;
  readonly hasSchemas: boolean;
  private prefix: string | null = null;
  private shared: string | null = null;

  constructor(private readonly reading: ConversationReading) {
    const { promptTextBytes, mayBeShortened, prompt } = reading.parts.scanned;
    this.textBytes = promptTextBytes;
    this.windowBytes = mayBeShortened === true ? 0 : promptTextBytes;
    this.mayHaveMedia = prompt.mayHaveMedia;
    this.hasSchemas = prompt.hasSchemas;
  }

  countChars(): number {
    return countChars(this.reading.parts.scanned.bytes, this.textBytes);
  }

  listTexts(): readonly Uint8Array[] {
    const { bytes, prompt } = this.reading.parts.scanned;
    return sliceTexts(bytes, prompt);
  }

  hashPrefix(): string {
    this.prefix ??= this.hash(this.reading.parts.listPrefix());
    return this.prefix;
  }

  hashShared(): string {
    this.shared ??= this.hash(this.reading.parts.listShared());
    return this.shared;
  }

  readCacheableShape(): CacheableShape {
    const { bytes, text, root } = this.reading.parts.scanned;
    const marksItself = isWord(text, memberOf(memberOf(root, "prompt_cache_options"), "mode"), "explicit");
    let sharedBytes = 0;
    for (const node of this.reading.parts.listShared()) sharedBytes += sizeOf(node);
    return {
      hasMarks: marksItself || bytes.includes(CACHE_CONTROL) || bytes.includes(BREAKPOINT),
      ...countAnswers(text, [...itemsOf(root, "messages"), ...itemsOf(root, "input")]),
      sharedBytes,
    };
  }

  readRetention(): RequestRetention {
    const { bytes, text, root } = this.reading.parts.scanned;
    const cachesInMemory = isWord(text, memberOf(root, "prompt_cache_retention"), "in_memory");
    return { reference: findStoredReference(bytes), cachesInMemory };
  }

  bindsReasoning(): boolean {
    const { bytes } = this.reading.parts.scanned;
    return BINDING.some((name) => bytes.includes(name));
  }

  private hash(nodes: readonly JsonNode[]): string {
    return hashNodes(this.reading.parts.scanned.bytes, nodes);
  }
}

/** Counts the answers in a conversation and the bytes after the last one. An answer may consist of several elements. */
function countAnswers(
  text: string,
  turns: readonly JsonNode[],
): Pick<CacheableShape, "answers" | "newBytes"> {
  let answers = 0;
  let newBytes = 0;
  let isInAnswer = false;
  for (const turn of turns) {
    const isOfModel = isAnswer(text, turn);
    if (isOfModel && !isInAnswer) answers += 1;
    newBytes = isOfModel ? 0 : newBytes + sizeOf(turn);
    isInAnswer = isOfModel;
  }
  return { answers, newBytes };
}

/** Whether an element of a conversation is the model's. In Responses calls have a type instead of a role. */
function isAnswer(text: string, turn: JsonNode): boolean {
  return (
    isWord(text, memberOf(turn, "role"), "assistant") ||
    lookUp(text, memberOf(turn, "type"), CALL_TYPES) === true
  );
}

const CALL_TYPES: WordTable<true> = wordTable({ function_call: true, custom_tool_call: true });

/** The ends of names of members that hold signed or encrypted reasoning, in all client APIs. Texts that contain them do no harm. */
const BINDING = ['signature"', '"encrypted_content"', '"reasoning.encrypted"', '"redacted_thinking"'];
