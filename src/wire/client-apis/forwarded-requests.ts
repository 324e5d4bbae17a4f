import { warnOfDropped } from "../canonical/embeddings.ts";
import { NO_NEEDS } from "../conversation/needs.ts";
import type { ForwardedRequest } from "../forwarded/forwarded-request.ts";
import { decodeImages } from "../forwarded/images.ts";
import { decodeModerations } from "../forwarded/moderations.ts";
import { decodeRerank } from "../forwarded/rerank.ts";
import { decodeSpeech } from "../forwarded/speech.ts";
import { decodeTranscription } from "../forwarded/transcriptions.ts";
import type {
  EncodedForUpstream,
  ForwardedApi,
  InferenceRequest,
  UpstreamTarget,
} from "./inference-request.ts";
import { NO_HEADERS, type ReadHeader, readHeaderHints, readHints } from "./session-hints.ts";
import { SINGLE_PROMPT } from "./single-prompt.ts";

/** Parses a moderations request. @throws GatewayError as `decodeModerations`. */
export const parseModerations = parserOf("moderations", decodeModerations);
/** Parses a rerank request. @throws GatewayError as `decodeRerank`. */
export const parseRerank = parserOf("rerank", decodeRerank);
/** Parses an image generation request. @throws GatewayError as `decodeImages`. */
export const parseImages = parserOf("images", decodeImages);
/** Parses a speech request. @throws GatewayError as `decodeSpeech`. */
export const parseSpeech = parserOf("speech", decodeSpeech);
/** Parses a transcription request. @throws GatewayError as `decodeTranscription`. */
export const parseTranscription = parserOf("transcriptions", decodeTranscription);

type Decode = (bytes: Buffer, contentType: string | null) => ForwardedRequest;

function parserOf(api: ForwardedApi, decode: Decode) {
  return (
    bytes: Buffer,
    rename: (id: string) => string,
    headers: ReadHeader = NO_HEADERS,
  ): InferenceRequest =>
    toInferenceRequest(api, decode(bytes, headers.get("content-type")), { rename, headers });
}

interface RequestContext {
  readonly rename: (id: string) => string;
  readonly headers: ReadHeader;
}

function toInferenceRequest(
  api: ForwardedApi,
  request: ForwardedRequest,
  { rename, headers }: RequestContext,
): InferenceRequest {
  const { preferences, preset, stream, answers, maxTokens, promptTextBytes, heldBytes } = request;
  const { scanned, charges, isText } = request;
  return {
    ...SINGLE_PROMPT,
    api,
    action: api,
    model: rename(request.model),
    fallbackModels: request.fallbackModels.map(rename),
    ...{ preferences, preset, stream, answers, maxTokens, promptTextBytes, heldBytes },
    notice: null,
    ...(scanned === null ? readHeaderHints(headers) : readHints(scanned.text, scanned.root, headers)),
    // No prompt is cached.
    hashPrefix: () => api,
    // The vendor rejects or shortens what is too long: its limits are in other units than tokens.
    windowTextBytes: 0,
    listNeeds: () => NO_NEEDS,
    countPromptChars: () => 0,
    listPromptText: () => [],
    listCharges: () => charges,
    encode: (target) => encodeFor(target, request),
    openRelay: rejectConversation,
    readAnswer: rejectConversation,
    forwarded: {
      isText,
      openRelay: (head, identity) => request.openRelay(head, identity),
      readAnswer: (body, head, identity) => request.readAnswer(body, head, identity),
    },
  };
}

function encodeFor(target: UpstreamTarget, request: ForwardedRequest): EncodedForUpstream {
  const { format, model, knownFields, refusedFields, storingFields = NONE } = target.provider;
  const hashUser = (user: string) => target.hashUser(user);
  const encoded = request.encode({ model: model.name, knownFields, refusedFields, storingFields, hashUser });
  const { body, headers = {}, leftOut } = encoded;
  return {
    format,
    body,
    headers,
    heldBytes: 0,
    repair: null,
    carriesReasoning: false,
    warnings: warnOfDropped(leftOut),
  };
}

const NONE: ReadonlySet<string> = new Set();

function rejectConversation(): never {
  throw new Error("forwarded answers are read by `forwarded`");
}
