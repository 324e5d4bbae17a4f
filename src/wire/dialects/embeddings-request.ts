import type { EmbeddingsWish, VectorsReading } from "../canonical/embeddings.ts";
import type { EncodedRequest } from "../canonical/format.ts";
import type { FormatName } from "../canonical/parts.ts";
import { encodeCohereEmbeddings } from "../cohere-embeddings/encode-request.ts";
import { readCohereEmbeddings } from "../cohere-embeddings/read-answer.ts";
import { encodeGeminiEmbeddings } from "../gemini-embeddings/encode-request.ts";
import { readGeminiEmbeddings } from "../gemini-embeddings/read-answer.ts";
import { decodeEmbeddingsRequest, type EmbeddingsRequest } from "../openai-embeddings/decode-request.ts";
import { encodeEmbeddingsAnswer } from "../openai-embeddings/encode-answer.ts";
import { encodeEmbeddingsRequest } from "../openai-embeddings/encode-request.ts";
import { readEmbeddingsAnswer } from "../openai-embeddings/read-answer.ts";
import type { EncodedForUpstream, InferenceRequest, UpstreamTarget } from "./inference-request.ts";

/** How a format's upstreams are asked for embeddings; null: as OpenAI's are, so that the client's bytes go on. */
interface Upstream {
  readonly encode: ((wish: EmbeddingsWish, model: string) => EncodedRequest) | null;
  readonly read: (body: string, count: number) => VectorsReading;
}

const UPSTREAMS: Readonly<Partial<Record<FormatName, Upstream>>> = {
  "openai-chat": { encode: null, read: readEmbeddingsAnswer },
  gemini: { encode: encodeGeminiEmbeddings, read: readGeminiEmbeddings },
  "cohere-chat": { encode: encodeCohereEmbeddings, read: readCohereEmbeddings },
};

/** The formats in which upstreams can be asked for embeddings. */
export const EMBEDDING_FORMATS: ReadonlySet<FormatName> = new Set(Object.keys(UPSTREAMS) as FormatName[]);

/**
 * An embeddings request. Model ids go through `rename`, which knows the operator's aliases.
 * @throws GatewayError as `decodeEmbeddingsRequest`.
 */
export function openEmbeddingsRequest(bytes: Buffer, rename: (id: string) => string): InferenceRequest {
  const request = decodeEmbeddingsRequest(bytes);
  const { encoding, wish } = request;
  return {
    api: "embeddings",
    action: "embeddings",
    model: rename(request.model),
    fallbackModels: request.fallbackModels.map(rename),
    preferences: request.preferences,
    stream: false,
    notice: null,
    promptTextBytes: request.promptTextBytes,
    countPromptChars: () => request.longestChars,
    encode: (target) => encodeFor(target, request),
    openRelay() {
      throw new Error("embeddings are not streamed");
    },
    readAnswer(format, body, identity) {
      const reading = upstreamOf(format).read(body, wish.inputs.length);
      return encodeEmbeddingsAnswer(reading, encoding, identity);
    },
  };
}

function upstreamOf(format: FormatName): Upstream {
  const upstream = UPSTREAMS[format];
  // The roster leaves out what is not spoken.
  if (upstream === undefined) throw new Error(`embeddings are not spoken in ${format}`);
  return upstream;
}

function encodeFor(
  { format, model, isLast, renames }: UpstreamTarget,
  request: EmbeddingsRequest,
): EncodedForUpstream {
  const { encode } = upstreamOf(format);
  const nothing = { repair: null, carriesReasoning: false, warnings: [] };
  if (encode === null)
    return { ...nothing, body: encodeEmbeddingsRequest(request, { model: model.name, isLast, renames }) };
  const { body, warnings } = encode(request.wish, model.name);
  return { ...nothing, body: Buffer.from(JSON.stringify(body)), warnings };
}
