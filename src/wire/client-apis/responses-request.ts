import { type JsonNode, wordTable } from "../../base/json/scan.ts";
import type { LeftOut } from "../../base/json/splice.ts";
import type { AskedFor } from "../canonical/model/format.ts";
import { type BlankTexts, holdsBlank, listsBlank } from "../conversation/blank-texts.ts";
import { isValidHistory } from "../conversation/calls/valid-history.ts";
import type { RequestCharges } from "../conversation/charges.ts";
import type { RequestNeeds } from "../conversation/needs.ts";
import type { SentConversation } from "../conversation/sent-turns.ts";
import { estimateTokens } from "../conversation/usage.ts";
import { hasTrigger } from "../openai-responses/compaction-items.ts";
import { encodeResponsesError } from "../openai-responses/errors.ts";
import {
  canForwardResponses,
  forwardResponsesRequest,
} from "../openai-responses/passthrough/forward-request.ts";
import { listResponsesCharges } from "../openai-responses/passthrough/list-charges.ts";
import { listResponsesNeeds } from "../openai-responses/passthrough/list-needs.ts";
import { listResponsesPrefix, listResponsesShared } from "../openai-responses/passthrough/list-prefix.ts";
import { listTexts } from "../openai-responses/passthrough/list-texts.ts";
import { relayResponsesAnswer } from "../openai-responses/passthrough/relay-response.ts";
import { ResponsesRelay } from "../openai-responses/passthrough/relay-stream.ts";
import {
  type ScannedResponsesRequest,
  scanResponsesRequest,
} from "../openai-responses/passthrough/scan-request.ts";
import { readSentItems } from "../openai-responses/passthrough/sent-turns.ts";
import { answerWarmUp } from "../openai-responses/socket/answer-warm-up.ts";
import { CONNECTION_LIMIT_FRAME, encodeErrorFrame } from "../openai-responses/socket/encode-error-frame.ts";
import { FrameEvents } from "../openai-responses/socket/frame-events.ts";
import { isAcknowledgement, readFrame } from "../openai-responses/socket/read-frame.ts";
import { askForCompaction, presentCompaction } from "../openai-responses/state/compact-request.ts";
import { joinInput, listNewItems } from "../openai-responses/state/join-input.ts";
import { TRAITS } from "../openai-responses/traits.ts";
import { openaiResponses } from "../openai-responses/translate/codec.ts";
import { type ClientApiDeclaration, SAMPLING } from "./client-api.ts";
import { decodeShortened } from "./fast/decode-shortened.ts";
import { type ClientRequest, createClientRequest } from "./hub/client-request.ts";
import type { ClientRequestParts, OwnAnswers, RequestSource } from "./hub/conversation-reading.ts";
import type { OwnFit } from "./hub/forward-fit.ts";
import type { Decoded } from "./hub/hub-request.ts";
import type { RequestState, UpstreamTarget } from "./request/inference-request.ts";
import { NO_HEADERS, type ReadHeader, readHints } from "./request/session-hints.ts";
import type { SocketFormat } from "./socket-format.ts";

/** Tools of the Responses format that other formats have as well. */
const COMMON_TOOLS = wordTable<true>({ function: true, custom: true, namespace: true });

/**
 * Parses a Responses request (docs/api/responses.md).
 * @throws GatewayError as `scanResponsesRequest`.
 */
export function parseResponsesRequest(
  bytes: Buffer,
  rename: (id: string) => string,
  headers: ReadHeader = NO_HEADERS,
): ClientRequest {
  return createClientRequest({ bytes, headers }, readParts, rename);
}

/** The WebSocket mode of the API (docs/api/responses.md, "WebSocket"). */
const SOCKET: SocketFormat = {
  isAcknowledgement,
  readFrame,
  openEvents: (frame) => new FrameEvents(frame),
  answerWarmUp,
  encodeError: encodeErrorFrame,
  connectionLimit: CONNECTION_LIMIT_FRAME,
};

/** OpenAI's responses (docs/api/responses.md). */
export const RESPONSES: ClientApiDeclaration = {
  name: "responses",
  access: "open_inference",
  operations: [
    { method: "POST", path: "/responses", socket: SOCKET },
    {
      method: "POST",
      path: "/responses/compact",
      readBody: askForCompaction,
      presentBody: presentCompaction,
    },
  ],
  parse: parseResponsesRequest,
  encodeError: (failure, { status }) => encodeResponsesError({ ...failure, status }),
  parameters: {
    ...SAMPLING,
    max_tokens: { field: "max_output_tokens" },
    reasoning_effort: { field: "reasoning", encode: (effort) => ({ effort }) },
  },
  system: { field: "instructions" },
};

function readParts({ bytes, headers }: RequestSource): ClientRequestParts {
  return new ResponsesParts(scanResponsesRequest(bytes), headers);
}

const ANSWERING: OwnAnswers = {
  openRelay: (identity) => new ResponsesRelay(identity),
  readAnswer: relayResponsesAnswer,
};

/** What the Responses API makes of one request. */
class ResponsesParts implements ClientRequestParts {
  readonly api = "responses";
  readonly traits = TRAITS;
  readonly commonTools = COMMON_TOOLS;
  readonly client = openaiResponses;
  readonly upstreamHeaders = null;
  readonly answering = ANSWERING;
  readonly session: string | null;
  readonly user: string | null;
  readonly tags: readonly string[];

  constructor(
    readonly scanned: ScannedResponsesRequest,
    headers: ReadHeader,
  ) {
    ({
      session: this.session,
      user: this.user,
      tags: this.tags,
    } = readHints(scanned.text, scanned.root, headers));
  }

  get facts(): Omit<AskedFor, "request"> {
    return {
      wantsUsageChunk: false,
      estimatedPromptTokens: estimateTokens(this.scanned.promptTextBytes),
    };
  }

  readState(): RequestState {
    const { scanned } = this;
    return {
      asked: scanned.asked,
      bytes: scanned.bytes.length,
      listAdded: (referenced) => listNewItems(scanned, referenced),
      join: (state) => joinInput(scanned, state),
    };
  }

  listNeeds(): RequestNeeds {
    return listResponsesNeeds(this.scanned);
  }

  readConversation(): SentConversation {
    return readSentItems(this.scanned);
  }

  listPrefix(): readonly JsonNode[] {
    return listResponsesPrefix(this.scanned);
  }

  listShared(): readonly JsonNode[] {
    return listResponsesShared(this.scanned);
  }

  listCharges(): RequestCharges {
    return listResponsesCharges(this.scanned);
  }

  /** Decodes the request with placeholders for its long texts. The scan does not check arguments. */
  decodeShort(): Decoded | null {
    const texts = listTexts(this.scanned);
    return decodeShortened(this.scanned, { codec: openaiResponses, texts });
  }

  fit(target: UpstreamTarget): OwnFit | null {
    if (!this.mayForward(target)) return null;
    const forward = (leftOut: LeftOut) => forwardResponsesRequest(this.scanned, target, leftOut);
    return { forward: (leftOut) => ({ body: forward(leftOut), repair: null, carriesReasoning: true }) };
  }

  private mayForward({ provider }: UpstreamTarget): boolean {
    const { scanned } = this;
    const { takesCustomTools, takesToolNamespaces = false } = provider;
    if (scanned.hasCustomTools && !takesCustomTools) return false;
    // Tools of a namespace may be free-text tools too.
    if (scanned.hasNamespaces && !(takesToolNamespaces && takesCustomTools)) return false;
    // Only OpenAI knows allowed_tools, and only with a mode.
    const { allowsTools } = scanned;
    if (allowsTools !== null && !(takesCustomTools && allowsTools === "with-mode")) return false;
    if (!takesToolNamespaces && hasTrigger(scanned.text, scanned.root)) return false;
    const { blankTexts } = provider.model;
    if (blankTexts !== undefined && hasBlanks(scanned, blankTexts)) return false;
    return (
      canForwardResponses(scanned, provider.model) &&
      isValidHistory(scanned.outline.read(), provider.toolCalls)
    );
  }
}

/** A result that is an empty string is taken. */
function hasBlanks({ text, root, items }: ScannedResponsesRequest, rejected: BlankTexts): boolean {
  const { input } = root.fields;
  if (input?.kind === "string") return holdsBlank(text, input, rejected);
  return items.some(
    ({ fields }) => holdsBlank(text, fields.content, rejected) || listsBlank(text, fields.output, rejected),
  );
}
