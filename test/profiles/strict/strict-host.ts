import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ProviderFormat } from "../../../src/wire/conversation/traits/format-name.ts";
import { answerAnyFormat } from "../../support/vendors/answer-any-format.ts";
import type { RecordedRequest } from "../../support/vendors/recording-vendor.ts";
import { VENDOR_DOCUMENTS } from "../hosts/documents.ts";
import { type Fault, findFault, type PublishedRequest } from "../hosts/schema.ts";
import type { Fields } from "../sites/profile-site.ts";
import { findRefusedByModel } from "./model-rules.ts";

/** What a request reached: the host and the format of the endpoint, and the model in the catalog. */
export interface Reached {
  readonly host: string;
  readonly format: ProviderFormat;
  /** The id of the catalog. */
  readonly model: string;
}

const PUBLISHED: ReadonlyMap<string, PublishedRequest> = new Map(
  VENDOR_DOCUMENTS.flatMap(({ name, hosts, format }) => {
    const text = readFileSync(join(import.meta.dir, "../hosts/published", `${name}.json`), "utf8");
    const published = JSON.parse(text) as PublishedRequest;
    return hosts.map((host) => [`${host} ${format}`, published] as const);
  }),
);

/** The hosts whose document is there. */
export const DOCUMENTED_HOSTS: ReadonlySet<string> = new Set(VENDOR_DOCUMENTS.flatMap(({ hosts }) => hosts));

/** Returns what a host has published of a format; null if nothing is there. */
export function publishedOf({ host, format }: Pick<Reached, "host" | "format">): PublishedRequest | null {
  return PUBLISHED.get(`${host} ${format}`) ?? null;
}

/** Why a strict host refuses a body: what its vendor publishes does not name it, or the model does not take it. */
export interface Refusal extends Omit<Fault, "kind"> {
  readonly kind: Fault["kind"] | "model";
}

/** Returns why a strict host refuses a body; null if it answers. */
export function findRefusal(body: Fields, reached: Reached): Refusal | null {
  const published = publishedOf(reached);
  const fault = published === null ? null : findFault(published, body);
  if (fault !== null) return fault;
  const refused = findRefusedByModel(body, reached);
  if (refused === null) return null;
  return {
    path: [refused.parameter],
    kind: "model",
    message: `is not supported with this model (${refused.source})`,
  };
}

/** The formats by the ends of the paths of their endpoints, the longest first. */
const ENDPOINTS: readonly (readonly [end: string, format: ProviderFormat])[] = [
  ["/chat/completions", "openai-chat"],
  [":generateContent", "gemini"],
  ["/responses", "openai-responses"],
  ["/messages", "anthropic-messages"],
  ["/converse", "bedrock-converse"],
  ["/chat", "cohere-chat"],
];

/** Returns the format of the endpoint that a request was sent to. */
export function formatOf(path: string): ProviderFormat {
  const endpoint = ENDPOINTS.find(([end]) => path.endsWith(end));
  if (endpoint === undefined) throw new Error(`no format has the endpoint ${path}`);
  return endpoint[1];
}

/** Answers as a strict host: 400 in the vendor's wording to a body that does not conform, else "Hello there.". */
export function answerStrictly(request: RecordedRequest, reached: Reached): Response {
  const refusal = findRefusal(JSON.parse(request.text) as Fields, reached);
  if (refusal !== null) return refuse(refusal, reached);
  if (reached.format === "cohere-chat") return Response.json(COHERE);
  if (reached.format === "bedrock-converse") return Response.json(CONVERSE);
  return answerAnyFormat(request);
}

/** Writes a refusal as the vendors of a format do. */
function refuse({ path, kind, message }: Refusal, { host, format }: Reached): Response {
  const at = path.join(".");
  const openai = {
    message: kind === "unknown" ? `Unknown parameter: '${at}'.` : `Invalid '${at}': ${message}.`,
    type: "invalid_request_error",
    param: at,
    code: kind === "unknown" ? "unknown_parameter" : "invalid_value",
  };
  if (host === "groq" && kind === "unknown")
    return Response.json(
      { error: { ...openai, message: `property '${at}' is unsupported` } },
      { status: 400 },
    );
  if (host === "mistral" || host === "codestral")
    return Response.json(
      {
        detail: [
          { type: kind === "unknown" ? "extra_forbidden" : kind, loc: ["body", ...path], msg: message },
        ],
      },
      { status: 422 },
    );
  const body: Readonly<Record<string, unknown>> = {
    "anthropic-messages": {
      type: "error",
      error: {
        type: "invalid_request_error",
        message: `${at}: ${kind === "unknown" ? "Extra inputs are not permitted" : message}`,
      },
    },
    gemini: {
      error: {
        code: 400,
        message:
          kind === "unknown"
            ? `Invalid JSON payload received. Unknown name "${path.at(-1)}" at '${at}': Cannot find field.`
            : `${at} ${message}`,
        status: "INVALID_ARGUMENT",
      },
    },
    "bedrock-converse": { message: `The value at ${at} ${message}.` },
    "cohere-chat": { message: `invalid request: ${at} ${message}` },
  };
  return Response.json(body[format] ?? { error: openai }, { status: 400 });
}

const COHERE = {
  id: "c-1",
  finish_reason: "COMPLETE",
  message: { role: "assistant", content: [{ type: "text", text: "Hello there." }] },
  usage: { tokens: { input_tokens: 3, output_tokens: 2 } },
};

const CONVERSE = {
  output: { message: { role: "assistant", content: [{ text: "Hello there." }] } },
  stopReason: "end_turn",
  usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
};
