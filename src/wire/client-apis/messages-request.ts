import { isWord, type JsonNode, parseMember, tryStringOf, wordTable } from "../../base/json/scan.ts";
import type { LeftOut } from "../../base/json/splice.ts";
import { encodeMessagesError } from "../anthropic-messages/errors.ts";
import { forwardMessagesRequest } from "../anthropic-messages/passthrough/forward-request.ts";
import { listMessagesCharges } from "../anthropic-messages/passthrough/list-charges.ts";
import { listMessagesNeeds } from "../anthropic-messages/passthrough/list-needs.ts";
import { listMessagesPrefix, listMessagesShared } from "../anthropic-messages/passthrough/list-prefix.ts";
import { listTexts } from "../anthropic-messages/passthrough/list-texts.ts";
import { relayMessagesAnswer } from "../anthropic-messages/passthrough/relay-response.ts";
import { MessagesRelay } from "../anthropic-messages/passthrough/relay-stream.ts";
import type { MessagesBody, MessagesMessage } from "../anthropic-messages/passthrough/request-shape.ts";
import {
  hasGeneratedImages,
  type ScannedMessagesRequest,
  scanMessagesRequest,
} from "../anthropic-messages/passthrough/scan-request.ts";
import { readSentMessages } from "../anthropic-messages/passthrough/sent-turns.ts";
import { splitUserId } from "../anthropic-messages/split-user-id.ts";
import { TRAITS } from "../anthropic-messages/traits.ts";
import { anthropicMessages } from "../anthropic-messages/translate/codec.ts";
import {
  type AskedThinking,
  takesThinking,
} from "../anthropic-messages/translate/request/reasoning-parameters.ts";
import { hasManyMarks } from "../canonical/fit/limit-cache-marks.ts";
import type { AskedFor, ModelTarget } from "../canonical/model/format.ts";
import { type BlankTexts, holdsBlank, listsBlank } from "../conversation/blank-texts.ts";
import { isValidHistory } from "../conversation/calls/valid-history.ts";
import type { RequestCharges } from "../conversation/charges.ts";
import type { RequestNeeds } from "../conversation/needs.ts";
import type { SentConversation } from "../conversation/sent-turns.ts";
import { estimateTokens } from "../conversation/usage.ts";
import { type ClientApiDeclaration, SAMPLING } from "./client-api.ts";
import { parseCountRequest } from "./count-request.ts";
import { decodeShortened } from "./fast/decode-shortened.ts";
import { type ClientRequest, createClientRequest } from "./hub/client-request.ts";
import type { ClientRequestParts, OwnAnswers, RequestSource } from "./hub/conversation-reading.ts";
import type { OwnFit } from "./hub/forward-fit.ts";
import type { Decoded } from "./hub/hub-request.ts";
import type { UpstreamTarget } from "./request/inference-request.ts";
import { readTags } from "./request/request-tags.ts";
import { findSession, findUser, NO_HEADERS, type ReadHeader } from "./request/session-hints.ts";

/** Tools of the Messages format that other formats have as well. */
const COMMON_TOOLS = wordTable<true>({ custom: true });

/**
 * Parses a Messages request (docs/api/messages.md). The features that its `anthropic-beta` header enables are
 * used in the body, so the header is only sent to vendors of this format.
 * @throws GatewayError as `scanMessagesRequest`.
 */
export function parseMessagesRequest(
  bytes: Buffer,
  rename: (id: string) => string,
  headers: ReadHeader = NO_HEADERS,
): ClientRequest {
  return createClientRequest({ bytes, headers }, readParts, rename);
}

/** Anthropic's messages (docs/api/messages.md). Its SDKs read the header `request-id`. */
export const MESSAGES: ClientApiDeclaration = {
  name: "messages",
  access: "open_inference",
  operations: [{ method: "POST", path: "/messages" }],
  parse: parseMessagesRequest,
  counting: {
    method: "POST",
    path: "/messages/count_tokens",
    parse: parseCountRequest,
    encodeCount: (tokens, isEstimated) => ({
      input_tokens: tokens,
      ...(isEstimated ? { estimated: true } : {}),
    }),
  },
  encodeError: (failure, { requestId }) => encodeMessagesError(failure, requestId),
  requestIdHeader: "request-id",
  parameters: {
    ...SAMPLING,
    max_tokens: { field: "max_tokens" },
    stop: { field: "stop_sequences" },
    reasoning_effort: {
      field: "output_config",
      others: ["thinking"],
      encode: (effort) => ({ effort }),
    },
  },
  system: { field: "system", toItem: (text) => ({ type: "text", text }) },
};

function readParts({ bytes, headers }: RequestSource): ClientRequestParts {
  return new MessagesParts(scanMessagesRequest(bytes), headers);
}

/** What the Messages API makes of one request. */
class MessagesParts implements ClientRequestParts {
  readonly api = "messages";
  readonly traits = TRAITS;
  readonly commonTools = COMMON_TOOLS;
  readonly client = anthropicMessages;
  readonly upstreamHeaders: Readonly<Record<string, string>> | null;
  readonly session: string | null;
  readonly user: string | null;
  readonly tags: readonly string[];
  readonly answering: OwnAnswers;

  constructor(
    readonly scanned: ScannedMessagesRequest,
    headers: ReadHeader,
  ) {
    ({ session: this.session, user: this.user, tags: this.tags } = readMessagesHints(scanned, headers));
    this.answering = createAnswering(estimateTokens(scanned.promptTextBytes));
    this.upstreamHeaders = readBetas(headers);
  }

  get facts(): Omit<AskedFor, "request"> {
    return {
      wantsUsageChunk: false,
      estimatedPromptTokens: estimateTokens(this.scanned.promptTextBytes),
    };
  }

  listNeeds(): RequestNeeds {
    return listMessagesNeeds(this.scanned);
  }

  readConversation(): SentConversation {
    return readSentMessages(this.scanned);
  }

  listPrefix(): readonly JsonNode[] {
    return listMessagesPrefix(this.scanned);
  }

  listShared(): readonly JsonNode[] {
    return listMessagesShared(this.scanned);
  }

  listCharges(): RequestCharges {
    return listMessagesCharges(this.scanned);
  }

  /** Decodes the request with placeholders for its long texts. The scan rejects inputs that are not objects. */
  decodeShort(): Decoded | null {
    const texts = listTexts(this.scanned);
    return decodeShortened(this.scanned, { codec: anthropicMessages, texts });
  }

  fit(target: UpstreamTarget): OwnFit | null {
    if (!this.mayForward(target)) return null;
    const forward = (leftOut: LeftOut) => forwardMessagesRequest(this.scanned, target, leftOut);
    return { forward: (leftOut) => ({ body: forward(leftOut), repair: null, carriesReasoning: true }) };
  }

  /** A thinking budget must be below the answer's limit. */
  private mayForward({ provider, maxTokens }: UpstreamTarget): boolean {
    const { scanned } = this;
    if (scanned.mayCarryReasoning || scanned.maxTokens === null || hasGeneratedImages(scanned)) return false;
    if (maxTokens && scanned.thinkingBudget >= maxTokens) return false;
    if (hasManyMarks(scanned.bytes) || !takesTurns(scanned, provider.model)) return false;
    if (!takesThinking(readAskedThinking(scanned), provider.model)) return false;
    return isValidHistory(scanned.outline.read(), provider.toolCalls);
  }
}

/** Whether a model takes the turns: blank texts, system messages behind the first, the assistant at the end, and thinking. */
function takesTurns(
  { text, root, messages }: ScannedMessagesRequest,
  { takesMidSystem, takesPrefill, takesUnsigned, blankTexts }: ModelTarget,
): boolean {
  const roleOf = (message: MessagesMessage | undefined) => message?.fields.role;
  if (blankTexts !== undefined && hasBlanks(text, root, blankTexts)) return false;
  if (takesPrefill === false && isWord(text, roleOf(messages.at(-1)), "assistant")) return false;
  if (takesUnsigned === false && messages.some((message) => hasUnsignedThinking(text, message))) return false;
  return takesMidSystem !== false || !messages.some((message) => isWord(text, roleOf(message), "system"));
}

/** A result that is an empty string is taken. */
function hasBlanks(text: string, root: MessagesBody, rejected: BlankTexts): boolean {
  const hasBlank = (message: MessagesMessage) =>
    holdsBlank(text, message.fields.content, rejected) ||
    (message.fields.content?.items ?? []).some((block) => listsBlank(text, block.fields.content, rejected));
  const system = root.fields.system;
  return (
    (root.fields.messages?.items ?? []).some(hasBlank) ||
    (system?.items?.length !== 0 && holdsBlank(text, system, rejected))
  );
}

function hasUnsignedThinking(text: string, message: MessagesMessage): boolean {
  return (message.fields.content?.items ?? []).some(
    (block) => isWord(text, block.fields.type, "thinking") && block.fields.signature?.kind !== "string",
  );
}

function readAskedThinking({ text, root }: ScannedMessagesRequest): AskedThinking {
  return {
    type: tryStringOf(text, root.fields.thinking?.fields.type) ?? null,
    effort: tryStringOf(text, root.fields.output_config?.fields.effort) ?? null,
  };
}

function createAnswering(estimatedPromptTokens: number): OwnAnswers {
  return {
    openRelay: (identity) => new MessagesRelay(identity, estimatedPromptTokens),
    readAnswer: relayMessagesAnswer,
  };
}

/** A comma-separated list of names. */
const BETAS = /^[\w.-]+(, ?[\w.-]+)*$/;

/** Returns the client's `anthropic-beta` header; null where it sends none or an invalid one. */
function readBetas(headers: ReadHeader): Readonly<Record<string, string>> | null {
  const betas = headers.get("anthropic-beta");
  return betas === null || !BETAS.test(betas) ? null : { "anthropic-beta": betas };
}

function readMessagesHints({ text, root }: ScannedMessagesRequest, headers: ReadHeader) {
  const named = tryStringOf(text, root.fields.metadata?.fields.user_id);
  const { user, session } = named === undefined ? NO_USER : splitUserId(named);
  const hints = {
    sessionId: tryStringOf(text, root.fields.session_id),
    promptCacheKey: tryStringOf(text, root.fields.prompt_cache_key),
    other: session,
  };
  const tags = readTags(parseMember(text, root, "tags"), headers);
  return { session: findSession(hints, headers), user: findUser(user), tags };
}

const NO_USER = { user: null, session: null };
