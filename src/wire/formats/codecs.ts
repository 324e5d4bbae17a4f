import { anthropicMessages } from "../anthropic-messages/translate/codec.ts";
import { bedrockConverse } from "../bedrock-converse/codec.ts";
import type { EmbeddingsParameters, VectorsReading } from "../canonical/embeddings/embeddings.ts";
import type { EncodedRequest, UpstreamCodec } from "../canonical/model/format.ts";
import { cohereChat } from "../cohere-chat/codec.ts";
import { decodeCohereEmbeddings } from "../cohere-chat/embeddings/decode-response.ts";
import { encodeCohereEmbeddings } from "../cohere-chat/embeddings/encode-request.ts";
import type { FormatName, ProviderFormat } from "../conversation/traits/format-name.ts";
import { gemini } from "../gemini/codec.ts";
import { decodeGeminiEmbeddings } from "../gemini/embeddings/decode-response.ts";
import { encodeGeminiEmbeddings } from "../gemini/embeddings/encode-request.ts";
import { decodeEmbeddingsAnswer } from "../openai-chat/embeddings/decode-response.ts";
import { openaiChat } from "../openai-chat/translate/codec.ts";
import { openaiResponses } from "../openai-responses/translate/codec.ts";

/** The codec of each format of conversations. */
export const UPSTREAM_CODECS: Readonly<Record<FormatName, UpstreamCodec>> = {
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
  "anthropic-messages": anthropicMessages,
  gemini,
  "bedrock-converse": bedrockConverse,
  "cohere-chat": cohereChat,
};

/** The embeddings of a format's vendor. */
export interface EmbeddingsCodec {
  /** Encodes a request; null: the client's bytes are forwarded in OpenAI's format. */
  readonly encode: ((parameters: EmbeddingsParameters, model: string) => EncodedRequest) | null;
  readonly read: (body: string, count: number) => VectorsReading;
}

/** The codec of embeddings at hosts of each format that has some. */
export const EMBEDDINGS_CODECS: Readonly<Partial<Record<ProviderFormat, EmbeddingsCodec>>> = {
  "openai-chat": { encode: null, read: decodeEmbeddingsAnswer },
  gemini: { encode: encodeGeminiEmbeddings, read: decodeGeminiEmbeddings },
  "cohere-chat": { encode: encodeCohereEmbeddings, read: decodeCohereEmbeddings },
};
