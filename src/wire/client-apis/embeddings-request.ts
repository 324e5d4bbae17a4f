import { type EmbeddingsParameters, nameLeftOut, type VectorsReading } from "../canonical/embeddings.ts";
import type { EncodedRequest } from "../canonical/format.ts";
import { readCohereEmbeddings } from "../cohere-embeddings/decode-response.ts";
import { encodeCohereEmbeddings } from "../cohere-embeddings/encode-request.ts";
import { NO_CHARGES } from "../conversation/charges.ts";
import type { FormatName } from "../conversation/format-name.ts";
import { NO_NEEDS } from "../conversation/needs.ts";
import { readGeminiEmbeddings } from "../gemini-embeddings/decode-response.ts";
import { encodeGeminiEmbeddings } from "../gemini-embeddings/encode-request.ts";
import { decodeEmbeddingsRequest, type EmbeddingsRequest } from "../openai-embeddings/decode-request.ts";
import { encodeEmbeddingsAnswer } from "../openai-embeddings/encode-answer.ts";
import { encodeEmbeddingsRequest, listLeftOut } from "../openai-embeddings/encode-request.ts";
import { readEmbeddingsAnswer } from "../openai-embeddings/read-answer.ts";
import type { EncodedForUpstream, InferenceRequest, UpstreamTarget } from "./inference-request.ts";
import { NO_HEADERS, type ReadHeader, readHints } from "./session-hints.ts";

/** Encodes embeddings requests for a format; null: the client's bytes are forwarded in OpenAI's format. */
interface Upstream {
  readonly encode: ((wish: EmbeddingsParameters, model: string) => EncodedRequest) | null;
  readonly read: (body: string, count: number) => VectorsReading;
}

const UPSTREAMS: Readonly<Partial<Record<FormatName, Upstream>>> = {
  "openai-chat": { encode: null, read: readEmbeddingsAnswer },
  gemini: { encode: encodeGeminiEmbeddings, read: readGeminiEmbeddings },
  "cohere-chat": { encode: encodeCohereEmbeddings, read: readCohereEmbeddings },
};

/**
 * Parses an embeddings request. `rename` resolves the operator's aliases of model ids.
 * @throws GatewayError as `decodeEmbeddingsRequest`.
 */
export function parseEmbeddingsRequest(
  bytes: Buffer,
  rename: (id: string) => string,
  headers: ReadHeader = NO_HEADERS,
): InferenceRequest {
  const request = decodeEmbeddingsRequest(bytes);
  const { encoding, wish } = request;
  return {
    api: "embeddings",
    format: null,
    action: "embeddings",
    model: rename(request.model),
    fallbackModels: request.fallbackModels.map(rename),
    preferences: request.preferences,
    stream: false,
    maxTokens: 0,
    answers: 1,
    notice: null,
    promptTextBytes: request.promptTextBytes,
    // The Latin-1 text, the inputs, and the encoded body.
    heldBytes: 3 * bytes.length,
    ...readHints(request.text, request.root, headers),
    // No prompt is cached.
    hashPrefix: () => "embeddings",
    windowTextBytes: request.longestBytes,
    listNeeds: () => NO_NEEDS,
    mayHaveMedia: false,
    formatOfTools: () => null,
    listCharges: () => NO_CHARGES,
    countPromptChars: () => request.longestChars,
    listPromptText: () => listLongest(wish),
    listLosses: () => [],
    encode: (target) => encodeFor(target, request),
    listTurnNames: () => [],
    encodeApart: () => null,
    openRelay() {
      throw new Error("embeddings are not streamed");
    },
    readAnswer(format, body, identity) {
      const reading = upstreamOf(format).read(body, wish.inputs.length);
      return encodeEmbeddingsAnswer(reading, encoding, identity);
    },
  };
}

/** The longest text; token ids have no characters. */
function listLongest({ inputs }: EmbeddingsParameters): Buffer[] {
  const texts = inputs.filter((input) => typeof input === "string");
  const longest = texts.reduce((a, b) => (Buffer.byteLength(b) > Buffer.byteLength(a) ? b : a), "");
  return longest === "" ? [] : [Buffer.from(JSON.stringify(longest))];
}

function upstreamOf(format: FormatName): Upstream {
  const upstream = UPSTREAMS[format];
  // Deployments without an embeddings URL are not served.
  if (upstream === undefined) throw new Error(`embeddings are not spoken in ${format}`);
  return upstream;
}

function encodeFor(target: UpstreamTarget, request: EmbeddingsRequest): EncodedForUpstream {
  const { name } = target.model;
  const { encode } = upstreamOf(target.format);
  const common = { heldBytes: 0, repair: null, carriesReasoning: false };
  if (encode === null) {
    const same = { ...target, model: name };
    const warnings = nameLeftOut(listLeftOut(request, same));
    return { ...common, body: encodeEmbeddingsRequest(request, same), warnings };
  }
  const { body, warnings } = encode(request.wish, name);
  return { ...common, body: Buffer.from(JSON.stringify(body)), warnings };
}
