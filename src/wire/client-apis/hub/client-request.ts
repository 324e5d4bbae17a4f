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
import type { RequestCharges } from "../../conversation/charges.ts";
import type { RequestNeeds } from "../../conversation/needs.ts";
import type { ParameterView } from "../../conversation/parameter-rules.ts";
import type { ProviderPreferences } from "../../conversation/preferences.ts";
import { sizeOf, sliceTexts } from "../../conversation/prompt-nodes.ts";
import { findStoredReference } from "../../conversation/stored-data.ts";
import type { ProviderFormat } from "../../conversation/traits/format-name.ts";
import { viewParameters } from "../fit/fit-parameters.ts";
import { countChars } from "../request/count-chars.ts";
import type {
  EncodeJob,
  InferenceRequest,
  RequestMemory,
  RequestRetention,
} from "../request/inference-request.ts";
import { ConversationEncoding } from "./conversation-encoding.ts";
import { type ClientRequestParts, ConversationReading, type RequestSource } from "./conversation-reading.ts";
import { BREAKPOINT } from "./forward-fit.ts";

/** A parsed request of a client API for conversations. */
export interface ClientRequest extends InferenceRequest {
  readonly encoding: ConversationEncoding;
}

/**
 * Creates a request of a client API. It is forwarded to upstreams of its own format and translated for all others. `read` reads the
 * request, and is called again for what is needed after it was released. `rename` resolves the operator's aliases of model ids.
 * @throws what `read` throws.
 */
export function createClientRequest(
  source: RequestSource,
  read: (source: RequestSource) => ClientRequestParts,
  rename: (id: string) => string,
): ClientRequest {
  return new ConversationInferenceRequest(new ConversationReading(source, read), rename);
}

const TEXT = { body: true, answer: true };

class ConversationInferenceRequest implements ClientRequest {
  readonly api: EncodeJob["api"];
  readonly format: ProviderFormat;
  readonly action = "chat";
  readonly model: string;
  readonly fallbackModels: readonly string[];
  readonly preferences: ProviderPreferences;
  readonly preset: string | null;
  readonly stream: boolean;
  readonly maxTokens: number | null;
  readonly answers: number;
  readonly isText = TEXT;
  readonly notice = null;
  readonly promptTextBytes: number;
  readonly windowTextBytes: number;
  readonly session: string | null;
  readonly user: string | null;
  readonly tags: readonly string[];
  readonly mayHaveMedia: boolean;
  readonly hasSchemas: boolean;
  readonly encoding: ConversationEncoding;
  readonly memory: RequestMemory;
  private prefix: string | null = null;
  private shared: string | null = null;
  private readonly reading: ConversationReading;

  constructor(reading: ConversationReading, rename: (id: string) => string) {
    const { parts } = reading;
    this.reading = reading;
    this.memory = reading;
    this.encoding = new ConversationEncoding(reading);
    const { scanned } = parts;
    this.api = parts.api;
    this.format = parts.traits.name;
    this.model = rename(scanned.model);
    const { fallbackModels } = scanned;
    this.fallbackModels = fallbackModels.length === 0 ? fallbackModels : fallbackModels.map(rename);
    this.preferences = scanned.preferences;
    this.preset = scanned.preset;
    this.stream = scanned.stream;
    this.maxTokens = scanned.maxTokens;
    this.answers = scanned.answers ?? 1;
    this.promptTextBytes = scanned.promptTextBytes;
    this.windowTextBytes = scanned.mayBeShortened === true ? 0 : scanned.promptTextBytes;
    this.session = parts.session;
    this.user = parts.user;
    this.tags = parts.tags;
    this.mayHaveMedia = scanned.prompt.mayHaveMedia;
    this.hasSchemas = scanned.prompt.hasSchemas;
  }

  hashPrefix(): string {
    this.prefix ??= hashNodes(this.reading.parts.scanned.bytes, this.reading.parts.listPrefix());
    return this.prefix;
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

  hashShared(): string {
    this.shared ??= hashNodes(this.reading.parts.scanned.bytes, this.reading.parts.listShared());
    return this.shared;
  }

  readRetention(): RequestRetention {
    const { bytes, text, root } = this.reading.parts.scanned;
    const cachesInMemory = isWord(text, memberOf(root, "prompt_cache_retention"), "in_memory");
    return { reference: findStoredReference(bytes), cachesInMemory };
  }

  listNeeds(): RequestNeeds {
    return this.reading.parts.listNeeds();
  }

  viewParameters(): ParameterView {
    return viewParameters(this.format, this.reading.parts.scanned);
  }

  formatOfTools(): ProviderFormat | null {
    return hasOwnTools(this.reading.parts) ? this.format : null;
  }

  bindsReasoning(): boolean {
    const { bytes } = this.reading.parts.scanned;
    return BINDING.some((name) => bytes.includes(name));
  }

  listCharges(): RequestCharges {
    return this.reading.listCharges();
  }

  countPromptChars(): number {
    return countChars(this.reading.parts.scanned.bytes, this.promptTextBytes);
  }

  listPromptText(): readonly Uint8Array[] {
    return sliceTexts(this.reading.parts.scanned.bytes, this.reading.parts.scanned.prompt);
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

/** Whether the request has tools that only this format has, such as those that the vendor runs. */
function hasOwnTools({ commonTools, scanned: { text, root } }: ClientRequestParts): boolean {
  if (commonTools === null) return false;
  return itemsOf(root, "tools").some((tool) => {
    const type = memberOf(tool, "type");
    return type?.kind === "string" && lookUp(text, type, commonTools) === undefined;
  });
}
