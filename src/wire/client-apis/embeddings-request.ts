import { type EmbeddingsParameters, warnOfDropped } from "../canonical/embeddings/embeddings.ts";
import { NO_NEEDS } from "../conversation/needs.ts";
import type { ProviderFormat } from "../conversation/traits/format-name.ts";
import { EMBEDDINGS_CODECS, type EmbeddingsCodec } from "../formats/codecs.ts";
import { decodeEmbeddingsRequest, type EmbeddingsRequest } from "../openai-chat/embeddings/decode-request.ts";
import { encodeEmbeddingsRequest, listLeftOut } from "../openai-chat/embeddings/encode-request.ts";
import { encodeEmbeddingsAnswer } from "../openai-chat/embeddings/encode-response.ts";
import type { ClientApiDeclaration } from "./client-api.ts";
import { fitToProfile, reviewScanned, toLeftOut } from "./fit/apply-profile.ts";
import { encodeHere, SAME_EVERYWHERE } from "./request/choose-target.ts";
import type {
  EncodedForUpstream,
  InferenceRequest,
  TextAnswers,
  UpstreamTarget,
} from "./request/inference-request.ts";
import { NO_HEADERS, type ReadHeader, readHints } from "./request/session-hints.ts";
import { PLAIN_DEMANDS, PLAIN_PROMPT, SINGLE_PROMPT } from "./request/single-prompt.ts";

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
  const { parameters } = request;
  return {
    ...SINGLE_PROMPT,
    api: "embeddings",
    action: "embeddings",
    model: rename(request.model),
    fallbackModels: request.fallbackModels.map(rename),
    preferences: request.preferences,
    preset: request.preset,
    stream: false,
    maxTokens: 0,
    notice: null,
    ...readHints(request.text, request.root, headers),
    prompt: {
      ...PLAIN_PROMPT,
      textBytes: request.promptTextBytes,
      windowBytes: request.longestBytes,
      countChars: () => request.longestChars,
      listTexts: () => listLongest(parameters),
      // No prompt is cached.
      hashPrefix: () => "embeddings",
    },
    demands: { ...PLAIN_DEMANDS, listNeeds: () => NO_NEEDS },
    encoding: encodeHere({ ...SAME_EVERYWHERE, encode: (target) => encodeFor(target, request) }),
    // The Latin-1 text, the inputs, and the encoded body.
    memory: { heldBytes: 3 * bytes.length },
  };
}

/** OpenAI's embeddings (docs/api/embeddings.md). */
export const EMBEDDINGS: ClientApiDeclaration = {
  name: "embeddings",
  access: "open_inference",
  operations: [{ method: "POST", path: "/embeddings" }],
  parse: parseEmbeddingsRequest,
  parameters: {},
};

/** The longest text; token ids have no characters. */
function listLongest({ inputs }: EmbeddingsParameters): Buffer[] {
  const texts = inputs.filter((input) => typeof input === "string");
  const longest = texts.reduce((a, b) => (Buffer.byteLength(b) > Buffer.byteLength(a) ? b : a), "");
  return longest === "" ? [] : [Buffer.from(JSON.stringify(longest))];
}

/** Returns the format's functions. Deployments without an embeddings URL are not served, so others are never asked for. */
function upstreamOf(format: ProviderFormat): EmbeddingsCodec {
  const upstream = EMBEDDINGS_CODECS[format];
  if (upstream === undefined) throw new Error(`the format ${format} has no embeddings`);
  return upstream;
}

function answersOf(format: ProviderFormat, { encoding, parameters }: EmbeddingsRequest): TextAnswers {
  return {
    openRelay() {
      throw new Error("embeddings are not streamed");
    },
    readAnswer(body, identity) {
      const reading = upstreamOf(format).read(body, parameters.inputs.length);
      return encodeEmbeddingsAnswer(reading, encoding, identity);
    },
  };
}

const NONE: ReadonlySet<string> = new Set();

function encodeFor(target: UpstreamTarget, request: EmbeddingsRequest): EncodedForUpstream {
  const { format, model, renames, knownFields, refusedFields, storingFields = NONE } = target.provider;
  const { name } = model;
  const { encode } = upstreamOf(format);
  const answers = answersOf(format, request);
  const common = { format, heldBytes: 0, repair: null, carriesReasoning: false, answers };
  if (encode === null) {
    const hashUser = (user: string) => target.hashUser(user);
    // Rejected fields are not removed from these bodies.
    const review = reviewScanned(request, { ...target.provider, refusedFields: NONE });
    const leftOut = toLeftOut(review, request);
    const same = { model: name, renames, knownFields, refusedFields, storingFields, hashUser, leftOut };
    const warnings = [...warnOfDropped(listLeftOut(request, same)), ...review.warnings];
    return { ...common, body: encodeEmbeddingsRequest(request, same), warnings };
  }
  const { body, warnings } = encode(request.parameters, name);
  const fitted = fitToProfile(body, target.provider);
  const all = [...warnings, ...fitted.warnings];
  return { ...common, body: Buffer.from(JSON.stringify(fitted.body)), warnings: all };
}
