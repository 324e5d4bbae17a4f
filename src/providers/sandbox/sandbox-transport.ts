import { createHash } from "node:crypto";
import { joinIntoOne } from "../../base/text/composed-bytes.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Transport, UpstreamRequest } from "../../core/deployments/transport.ts";
import { composeAnswer } from "./answer.ts";
import { planEmbeddings, SANDBOX_EMBEDDING_MODEL } from "./embed.ts";
import { giveAnswer } from "./failures.ts";
import {
  planDrawing,
  planModeration,
  planRanking,
  planSpeech,
  planTranscription,
  SANDBOX_FORWARDED_MODELS,
} from "./forwarded.ts";
import { readMarkers } from "./markers.ts";
import { type Pace, type PlannedReply, playReply } from "./play-reply.ts";
import { readFimRequest } from "./read-fim-request.ts";
import {
  type ReadRequest,
  readRequest,
  SANDBOX_AGENT_MODEL,
  SANDBOX_MODEL,
  type SandboxRequest,
} from "./read-request.ts";
import { describeBadRequest, replyWithError, replyWithJson, type SandboxReply } from "./reply.ts";

const AT_ONCE: Pace = { delayMs: 0, splitBytes: null };

/**
 * Creates the sandbox, an upstream inside the process for trying clients without a provider account (docs/sandbox.md). It speaks
 * OpenAI's chat format in bytes, so that a request takes the whole path through the gateway. It answers `POST …/chat/completions`,
 * `POST …/fim/completions`, `POST …/embeddings`, the forwarded endpoints and `GET …/models` on any host, and ignores headers. Except
 * for `created`, the same request has the same answer. Markers in the last user message ask for tool calls, reasoning, and each kind of failure.
 */
export function createSandboxTransport({ clock }: { readonly clock: Clock }): Transport {
  return {
    open(request) {
      const plan = planReply(request, Math.floor(clock.now() / 1000));
      return playReply(plan, request.connectTimeoutMs, clock);
    },
    close() {
      // There are no connections.
    },
  };
}

function planReply(request: UpstreamRequest, created: number): PlannedReply {
  const endpoint = findEndpoint(request);
  const body = request.body === null ? null : joinIntoOne(request.body);
  if (endpoint === "models") return { reply: listModels(), pace: AT_ONCE };
  if (endpoint === "chat") return addRequestId(planChat(readRequest(body), created), body);
  if (endpoint === "fim") return addRequestId(planChat(readFimRequest(body), created), body);
  if (endpoint !== null) return addRequestId({ reply: SINGLE_REPLIES[endpoint](body), pace: AT_ONCE }, body);
  const message = `Invalid URL (${request.method} ${request.url.pathname})`;
  return { reply: replyWithError(404, describeBadRequest(message)), pace: AT_ONCE };
}

/** The endpoints that answer immediately, without a stream. */
const SINGLE_REPLIES = {
  embeddings: planEmbeddings,
  moderations: planModeration,
  rerank: planRanking,
  images: planDrawing,
  speech: planSpeech,
  transcriptions: planTranscription,
} as const satisfies Readonly<Record<string, (body: Uint8Array | null) => SandboxReply>>;

type Endpoint = "chat" | "fim" | "models" | keyof typeof SINGLE_REPLIES;

const POSTED: readonly (readonly [path: string, endpoint: Exclude<Endpoint, "models">])[] = [
  ["/chat/completions", "chat"],
  ["/fim/completions", "fim"],
  ["/embeddings", "embeddings"],
  ["/moderations", "moderations"],
  ["/rerank", "rerank"],
  ["/images/generations", "images"],
  ["/audio/speech", "speech"],
  ["/audio/transcriptions", "transcriptions"],
];

function findEndpoint({ method, url }: UpstreamRequest): Endpoint | null {
  if (method === "GET") return url.pathname.endsWith("/models") ? "models" : null;
  if (method !== "POST") return null;
  return POSTED.find(([path]) => url.pathname.endsWith(path))?.[1] ?? null;
}

function listModels(): SandboxReply {
  const ids = [SANDBOX_MODEL, SANDBOX_AGENT_MODEL, SANDBOX_EMBEDDING_MODEL, ...SANDBOX_FORWARDED_MODELS];
  const data = ids.map((id) => ({ id, object: "model", created: 0, owned_by: "sandbox" }));
  return replyWithJson(200, { object: "list", data });
}

/** Adds a request id, as vendors do. */
function addRequestId({ reply, pace }: PlannedReply, body: Uint8Array | null): PlannedReply {
  if (reply.kind !== "answer") return { reply, pace };
  const id = createHash("sha256")
    .update(body ?? new Uint8Array())
    .digest("hex")
    .slice(0, 32);
  return { reply: { ...reply, headers: { ...reply.headers, "x-request-id": `req_${id}` } }, pace };
}

function planChat(read: ReadRequest, created: number): PlannedReply {
  if (!read.ok) return { reply: replyWithError(read.status, read.error), pace: AT_ONCE };
  return planAnswer(read.request, created);
}

function planAnswer(request: SandboxRequest, created: number): PlannedReply {
  const marked = readMarkers(request.userText);
  if (!marked.ok) return reject(marked.problem);
  const { directives } = marked;
  const composed = composeAnswer(request, directives);
  if (!composed.ok) return reject(composed.problem);
  const stamp = { id: `chatcmpl-${request.fingerprint.slice(0, 24)}`, created, model: request.model };
  const fail = directives.failure ?? giveAnswer;
  return { reply: fail({ request, answer: composed.answer, stamp }), pace: directives };
}

function reject(problem: string): PlannedReply {
  return { reply: replyWithError(400, describeBadRequest(problem)), pace: AT_ONCE };
}
