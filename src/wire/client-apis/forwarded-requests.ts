import { nextTurn } from "../../base/time/next-turn.ts";
import type { AnswerRelay, RelayIdentity, WholeAnswer } from "../canonical/answer/relay.ts";
import { warnOfDropped } from "../canonical/embeddings/embeddings.ts";
import { NO_NEEDS } from "../conversation/needs.ts";
import type { ProfileReview } from "../conversation/request-profile.ts";
import { EventRelay } from "../forwarded/event-relay.ts";
import type { ForwardedRequest } from "../forwarded/forwarded-request.ts";
import { decodeImages } from "../forwarded/images.ts";
import { decodeModerations } from "../forwarded/moderations.ts";
import { decodeRerank } from "../forwarded/rerank.ts";
import { decodeSpeech } from "../forwarded/speech.ts";
import { decodeTranscription } from "../forwarded/transcriptions.ts";
import type { ClientApiDeclaration } from "./client-api.ts";
import { reviewFields, reviewScanned, toLeftOut } from "./fit/apply-profile.ts";
import { encodeHere, SAME_EVERYWHERE } from "./request/choose-target.ts";
import type {
  ByteAnswers,
  EncodedForUpstream,
  ForwardedApi,
  InferenceRequest,
  ProviderTarget,
  UpstreamTarget,
} from "./request/inference-request.ts";
import { NO_HEADERS, type ReadHeader, readHeaderHints, readHints } from "./request/session-hints.ts";
import { PLAIN_DEMANDS, PLAIN_PROMPT, SINGLE_PROMPT } from "./request/single-prompt.ts";
import { type Filtering, filterDocuments, filterPlainText } from "./texts/filter-documents.ts";

/** OpenAI's moderations. */
export const MODERATIONS = declare("moderations", "/moderations", decodeModerations);
/** Cohere's rerank. */
export const RERANK = declare("rerank", "/rerank", decodeRerank);
/** OpenAI's image generations. */
export const IMAGES = declare("images", "/images/generations", decodeImages);
/** OpenAI's speech. */
export const SPEECH = declare("speech", "/audio/speech", decodeSpeech);
/** OpenAI's transcriptions. */
export const TRANSCRIPTIONS: ClientApiDeclaration = {
  ...declare("transcriptions", "/audio/transcriptions", decodeTranscription),
  takesForm: true,
};

const NONE: ReadonlySet<string> = new Set();

type Decode = (bytes: Buffer, contentType: string | null) => ForwardedRequest;

/** Declares an API whose requests and answers are forwarded (docs/api/other-endpoints.md). */
function declare(api: ForwardedApi, path: string, decode: Decode): ClientApiDeclaration {
  return {
    name: api,
    access: "open_inference",
    operations: [{ method: "POST", path }],
    parse: (bytes, rename, headers = NO_HEADERS) =>
      toInferenceRequest(api, decode(bytes, headers.get("content-type")), { rename, headers }),
    parameters: {},
  };
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
    ...{ preferences, preset, stream, answers, maxTokens },
    notice: null,
    ...(scanned === null ? readHeaderHints(headers) : readHints(scanned.text, scanned.root, headers)),
    prompt: {
      ...PLAIN_PROMPT,
      textBytes: promptTextBytes,
      // The vendor rejects or shortens what is too long: its limits are in other units than tokens.
      windowBytes: 0,
      countChars: () => 0,
      listTexts: () => [],
      // No prompt is cached.
      hashPrefix: () => api,
    },
    demands: { ...PLAIN_DEMANDS, listNeeds: () => NO_NEEDS, listCharges: () => charges },
    isText,
    encoding: encodeHere({ ...SAME_EVERYWHERE, encode: (target) => encodeFor(target, request) }),
    memory: { heldBytes },
  };
}

/** Returns how answers are read: they are passed on as they are, or through a filter. */
function createAnswers(request: ForwardedRequest): ByteAnswers {
  return {
    readsBytes: true,
    openRelay: (identity, head) => ({ relay: filterRelay(request.openRelay(head, identity), identity) }),
    readAnswer(body, identity, head) {
      const read = (bytes: Buffer) => request.readAnswer(bytes, head, identity);
      return filterAnswer(body, read, identity);
    },
  };
}

/** Filters the events of a stream, which then wait for its end. Audio has no texts. */
function filterRelay(relay: AnswerRelay, { filter = null }: RelayIdentity): AnswerRelay {
  if (filter !== null && relay instanceof EventRelay)
    relay.filterWith(async (documents) => {
      const filtered = await filterDocuments(documents, { filter, pause: nextTurn });
      return filter.block === null ? filtered : null;
    });
  return relay;
}

/** Filters a whole answer, which is then read again. */
function filterAnswer(
  body: Buffer,
  read: (body: Buffer) => WholeAnswer<Buffer>,
  { filter = null }: RelayIdentity,
): WholeAnswer<Buffer> {
  const answer = read(body);
  if (filter === null || answer.kind === "error") return answer;
  const { mediaType } = answer;
  let filtered: WholeAnswer<Buffer> = answer;
  return {
    ...answer,
    applyFilter: async (pause) => {
      filtered = read(await filterBody(body, mediaType, { filter, pause }));
    },
    encode(end) {
      if (filtered.kind === "error") throw new Error("a filtered answer cannot be read");
      return filtered.encode(end);
    },
  };
}

async function filterBody(
  body: Buffer,
  mediaType: string | undefined,
  filtering: Filtering,
): Promise<Buffer> {
  if (mediaType !== undefined) return Buffer.from(await filterPlainText(body.toString("utf8"), filtering));
  const [filtered = body] = await filterDocuments([body], filtering);
  return filtered;
}

function encodeFor(target: UpstreamTarget, request: ForwardedRequest): EncodedForUpstream {
  const { format, model, knownFields, refusedFields, storingFields = NONE } = target.provider;
  const hashUser = (user: string) => target.hashUser(user);
  const review = reviewForwarded(request, target.provider);
  const costly =
    request.scanned === null
      ? { removed: new Set([...review.removed, ...review.replaced.keys()]), splices: [] }
      : toLeftOut(review, request.scanned);
  const same = { model: model.name, knownFields, refusedFields, storingFields, hashUser, costly };
  const encoded = request.encode(same);
  const { body, headers = {}, leftOut } = encoded;
  return {
    format,
    body,
    headers,
    heldBytes: 0,
    repair: null,
    carriesReasoning: false,
    answers: createAnswers(request),
    warnings: [...warnOfDropped(leftOut), ...review.warnings],
  };
}

function reviewForwarded(
  { scanned, formFields = {} }: ForwardedRequest,
  provider: ProviderTarget,
): ProfileReview {
  // Rejected fields are not removed from these bodies.
  const target = { ...provider, refusedFields: NONE };
  return scanned === null ? reviewFields(formFields, target) : reviewScanned(scanned, target);
}
