import { parseFields } from "../../base/json/check-fields.ts";
import { hashNodes } from "../../base/json/hash-nodes.ts";
import { createDocumentReader, decodeBody, isEventStream } from "../canonical/answer/read-document.ts";
import type { AnswerRelay, RelayIdentity, WholeAnswer } from "../canonical/answer/relay.ts";
import { createWholeTranslation, TranslatedRelay } from "../canonical/answer/translate-relay.ts";
import type { AskedFor } from "../canonical/model/format.ts";
import { EMPTY_REQUEST } from "../canonical/model/request.ts";
import type { RequestNeeds } from "../conversation/needs.ts";
import { estimateTokens } from "../conversation/usage.ts";
import type { Warning } from "../conversation/warning.ts";
import { listParameters } from "../openai-chat/passthrough/list-needs.ts";
import { forwardCompletionRequest } from "../openai-completions/passthrough/forward-request.ts";
import { CompletionDocumentRelay } from "../openai-completions/passthrough/relay-document.ts";
import { relayCompletion } from "../openai-completions/passthrough/relay-response.ts";
import { CompletionRelay } from "../openai-completions/passthrough/relay-stream.ts";
import {
  type ScannedCompletion,
  scanCompletionRequest,
} from "../openai-completions/passthrough/scan-request.ts";
import { TRAITS } from "../openai-completions/traits.ts";
import { openaiCompletions } from "../openai-completions/translate/codec.ts";
import { completionAnswers } from "../openai-completions/translate/read-answer.ts";
import { type ClientApiDeclaration, SAMPLING } from "./client-api.ts";
import { reviewScanned, toLeftOut } from "./fit/apply-profile.ts";
import { listRejectedFields } from "./fit/apply-provider.ts";
import { viewParameters } from "./fit/fit-parameters.ts";
import { HubRequest } from "./hub/hub-request.ts";
import { encodeHere } from "./request/choose-target.ts";
import type {
  EncodedForUpstream,
  InferenceRequest,
  TextAnswers,
  UpstreamTarget,
} from "./request/inference-request.ts";
import { heldBytesOf } from "./request/request-size.ts";
import { NO_HEADERS, type ReadHeader, readHints } from "./request/session-hints.ts";
import { PLAIN_DEMANDS, PLAIN_PROMPT, SINGLE_PROMPT } from "./request/single-prompt.ts";

const FORMAT = TRAITS.name;

/**
 * Parses a request of OpenAI's legacy completions API. It is forwarded to providers with this endpoint, and translated to a chat for
 * all others (docs/api/completions.md). `rename` resolves the operator's aliases of model ids.
 * @throws GatewayError as `scanCompletionRequest`.
 */
export function parseCompletionsRequest(
  bytes: Buffer,
  rename: (id: string) => string,
  headers: ReadHeader = NO_HEADERS,
): InferenceRequest {
  const scanned = scanCompletionRequest(bytes);
  const hub = createHub(scanned);
  return {
    ...SINGLE_PROMPT,
    ...readHints(scanned.text, scanned.root, headers),
    api: "completions",
    format: FORMAT,
    action: "completions",
    model: rename(scanned.model),
    fallbackModels: scanned.fallbackModels.map(rename),
    preferences: scanned.preferences,
    preset: scanned.preset,
    stream: scanned.stream,
    maxTokens: scanned.maxTokens,
    answers: scanned.answers,
    notice: null,
    prompt: {
      ...PLAIN_PROMPT,
      textBytes: scanned.promptTextBytes,
      windowBytes: scanned.longestBytes,
      countChars: () => countLongest(scanned),
      listTexts: () => listLongest(scanned),
      hashPrefix: () => hashNodes(scanned.bytes, [scanned.root.fields.prompt ?? scanned.root]),
    },
    demands: {
      ...PLAIN_DEMANDS,
      listNeeds: () => listNeeds(scanned),
      viewParameters: () => viewParameters(FORMAT, scanned),
      // Providers with the endpoint come first: they continue the prompt instead of answering it.
      formatOfTools: () => FORMAT,
    },
    encoding: encodeHere({
      format: FORMAT,
      listLosses: (target) => (isOwn(target) ? listWarnings(scanned, target) : hub.listLosses(target)),
      encode: (target) => (isOwn(target) ? forward(scanned, target) : translate(hub, target)),
    }),
    // The parsed prompts besides the scanned request.
    memory: { heldBytes: heldBytesOf(scanned) + scanned.promptTextBytes },
  };
}

/** OpenAI's text completions (docs/api/completions.md). */
export const COMPLETIONS: ClientApiDeclaration = {
  name: "completions",
  access: "open_inference",
  operations: [{ method: "POST", path: "/completions" }],
  parse: parseCompletionsRequest,
  parameters: {
    ...SAMPLING,
    max_tokens: { field: "max_tokens" },
    stop: { field: "stop" },
    seed: { field: "seed" },
    frequency_penalty: { field: "frequency_penalty" },
    presence_penalty: { field: "presence_penalty" },
  },
};

function isOwn({ provider }: UpstreamTarget): boolean {
  return provider.format === FORMAT;
}

/** Returns how the answers of providers with the endpoint are read: as they are, or through a filter. */
function createAnswers(scanned: ScannedCompletion): TextAnswers {
  return {
    openRelay(identity, { isDocument = false }) {
      if (identity.filter) return { relay: openFiltered(scanned, identity, isDocument) };
      const Relay = isDocument ? CompletionDocumentRelay : CompletionRelay;
      return { relay: new Relay(identity, scanned.wantsUsageChunk) };
    },
    readAnswer(body, identity) {
      const isTranslated = identity.filter || isEventStream(body);
      return isTranslated ? readTranslated(scanned, body, identity) : relayCompletion(body, identity);
    },
  };
}

/** The facts that decide the form of an answer that a filter sees. */
function factsOf({ wantsUsageChunk }: ScannedCompletion): AskedFor {
  return { request: { ...EMPTY_REQUEST, messages: [] }, wantsUsageChunk, estimatedPromptTokens: 0 };
}

function openFiltered(scanned: ScannedCompletion, identity: RelayIdentity, isDocument: boolean): AnswerRelay {
  const reader = isDocument ? createDocumentReader(completionAnswers) : completionAnswers.createReader();
  return new TranslatedRelay(reader, openaiCompletions.createWriter(identity, factsOf(scanned)), identity);
}

function readTranslated(scanned: ScannedCompletion, body: string, identity: RelayIdentity): WholeAnswer {
  const recipient = { codec: openaiCompletions, identity, asked: factsOf(scanned) };
  return createWholeTranslation(decodeBody(completionAnswers, body), recipient);
}

function createHub({ bytes, text, wantsUsageChunk, promptTextBytes }: ScannedCompletion): HubRequest {
  const parseWhole = () => parseFields(bytes.toString("utf8"), text);
  const estimatedPromptTokens = estimateTokens(promptTextBytes);
  return new HubRequest(openaiCompletions, { parseWhole }, { wantsUsageChunk, estimatedPromptTokens });
}

function forward(scanned: ScannedCompletion, target: UpstreamTarget): EncodedForUpstream {
  const review = reviewScanned(scanned, target.provider);
  const body = forwardCompletionRequest(scanned, target, toLeftOut(review, scanned));
  return {
    format: FORMAT,
    body,
    heldBytes: body.length,
    repair: null,
    carriesReasoning: false,
    warnings: [...listRejectedFields(scanned.root, target.provider), ...review.warnings],
    answers: createAnswers(scanned),
  };
}

function listWarnings(scanned: ScannedCompletion, { provider }: UpstreamTarget): readonly Warning[] {
  return [...listRejectedFields(scanned.root, provider), ...reviewScanned(scanned, provider).warnings];
}

function translate(hub: HubRequest, target: UpstreamTarget): EncodedForUpstream {
  const encoded = hub.encode(target);
  return { ...encoded, warnings: [SENT_AS_CHAT, ...encoded.warnings] };
}

/** The warning where the model answers the prompt instead of continuing it. */
const SENT_AS_CHAT: Warning = {
  field: "prompt",
  message:
    "The provider has no text completions endpoint for this model; the prompt was sent as a user message.",
};

/** Fields that only providers with this endpoint accept, which is decided by the format and not by lists of parameters. */
const OF_THE_FORMAT: ReadonlySet<string> = new Set(["prompt", "suffix", "echo", "best_of"]);

function listNeeds({ text, root }: ScannedCompletion): RequestNeeds {
  const parameters = listParameters(text, root);
  return {
    features: [],
    parameters: parameters.filter((name) => !OF_THE_FORMAT.has(name)),
    contentField: "prompt",
  };
}

/** The characters of the longest prompt with the suffix. Token ids have none. */
function countLongest({ prompts, suffix }: ScannedCompletion): number {
  const chars = prompts.map((prompt) => (typeof prompt === "string" ? prompt.length : 0));
  return Math.max(...chars) + suffix.length;
}

/** The longest text and the suffix; token ids have no characters, and a suffix alone does not measure them. */
function listLongest({ prompts, suffix }: ScannedCompletion): Buffer[] {
  const texts = prompts.filter((prompt) => typeof prompt === "string");
  if (texts.length === 0) return [];
  const longest = texts.reduce((a, b) => (Buffer.byteLength(b) > Buffer.byteLength(a) ? b : a));
  return [longest, suffix].filter((text) => text !== "").map((text) => Buffer.from(JSON.stringify(text)));
}
