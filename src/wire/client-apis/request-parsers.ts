import { parseChatRequest } from "./chat-request.ts";
import { parseCompletionsRequest } from "./completions-request.ts";
import { parseEmbeddingsRequest } from "./embeddings-request.ts";
import { parseFimRequest } from "./fim-request.ts";
import {
  parseImages,
  parseModerations,
  parseRerank,
  parseSpeech,
  parseTranscription,
} from "./forwarded-requests.ts";
import type { ClientApi, InferenceRequest } from "./inference-request.ts";
import { parseMessagesRequest } from "./messages-request.ts";
import { parseResponsesRequest } from "./responses-request.ts";
import type { ReadHeader } from "./session-hints.ts";

/** Parses a request of a client API. @throws GatewayError `invalid_request` and others for an invalid request. */
export type ParseRequest = (
  body: Buffer,
  rename: (id: string) => string,
  headers?: ReadHeader,
) => InferenceRequest;

/** The parser of each client API. */
export const REQUEST_PARSERS: Readonly<Record<ClientApi, ParseRequest>> = {
  "chat.completions": parseChatRequest,
  responses: parseResponsesRequest,
  messages: parseMessagesRequest,
  completions: parseCompletionsRequest,
  fim: parseFimRequest,
  embeddings: parseEmbeddingsRequest,
  moderations: parseModerations,
  rerank: parseRerank,
  images: parseImages,
  speech: parseSpeech,
  transcriptions: parseTranscription,
};
