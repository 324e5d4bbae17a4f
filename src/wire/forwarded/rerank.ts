import { rejectField } from "../../base/failures/errors.ts";
import { requireText } from "../../base/json/check-fields.ts";
import { asFields } from "../../base/json/fields.ts";
import { requireAtMost } from "../../base/json/reject-excess.ts";
import { BOUNDS } from "../../base/numbers/bounds.ts";
import { NO_CHARGES } from "../conversation/charges.ts";
import { BYTES_PER_TOKEN, readCount, type TokenUsage } from "../conversation/usage.ts";
import { type ForwardedRequest, JSON_EXCHANGE } from "./forwarded-request.ts";
import { readJsonAnswer, type ScannedAnswer } from "./json-answer.ts";
import { encodeJsonBody, readJsonBody } from "./json-body.ts";
import { readPromptUsage } from "./moderations.ts";

/** Documents of one search, and tokens of one document including the query: Cohere counts a longer one as several. */
const DOCUMENTS_PER_SEARCH = 100;
const TOKENS_PER_DOCUMENT = 500;
/** The least bytes of a token, by which searches are bounded. */
const LEAST_BYTES_PER_TOKEN = 2;

/**
 * Parses a rerank request of Cohere's format, which Jina, vLLM, Together and others share: `query` and `documents`.
 * @throws GatewayError `invalid_request` that names the field and the remedy, `invalid_model` for a malformed model id.
 */
export function decodeRerank(bytes: Buffer): ForwardedRequest {
  const body = readJsonBody(bytes, { example: "cohere/rerank-v3.5", usual: null });
  const query = Buffer.byteLength(
    requireText(body.fields, "query", "the text that the documents are compared with"),
  );
  const documents = measureDocuments(body.fields["documents"]);
  const promptTextBytes = documents.reduce((sum, size) => sum + query + size, 0);
  const countBy = (bytesPerToken: number) => countSearches(documents, { query, bytesPerToken });
  const { model, fallbackModels, preferences, preset } = body;
  return {
    ...JSON_EXCHANGE,
    ...{ model, fallbackModels, preferences, preset, promptTextBytes },
    scanned: body,
    heldBytes: 3 * bytes.length,
    charges: { ...NO_CHARGES, units: { searches: countBy(LEAST_BYTES_PER_TOKEN) } },
    encode: (target) => encodeJsonBody(body, target),
    readAnswer: (answer, _head, identity) =>
      readJsonAnswer(answer, identity, {
        payload: ["results", "data"],
        readUsage: (scanned) => readUsage(scanned, { promptTextBytes, searches: countBy(BYTES_PER_TOKEN) }),
      }),
  };
}

/** Returns the bytes of each document. */
function measureDocuments(documents: unknown): readonly number[] {
  if (!Array.isArray(documents) || documents.length === 0)
    return rejectField("documents", "is required: a list of texts");
  requireAtMost("documents", documents.length, {
    what: "documents",
    bound: BOUNDS.rerankDocuments,
    remedy: "Send several requests.",
  });
  return documents.map((document: unknown, at) => {
    const text = typeof document === "string" ? document : (asFields(document) ?? null);
    if (text === null) return rejectField(`documents[${at}]`, "must be a text, or an object with its text");
    return Buffer.byteLength(typeof text === "string" ? text : JSON.stringify(text));
  });
}

/** Returns how many searches Cohere counts for documents of these sizes. */
function countSearches(
  documents: readonly number[],
  { query, bytesPerToken }: { readonly query: number; readonly bytesPerToken: number },
): number {
  const room = TOKENS_PER_DOCUMENT * bytesPerToken;
  const parts = documents.reduce((sum, size) => sum + Math.max(1, Math.ceil((size + query) / room)), 0);
  return Math.ceil(parts / DOCUMENTS_PER_SEARCH);
}

/** Reads the counts of Cohere (searches) and of others (tokens). Searches are estimated where the vendor counts neither. */
function readUsage(
  answer: ScannedAnswer,
  estimate: { readonly promptTextBytes: number; readonly searches: number },
): TokenUsage {
  const billed = asFields(asFields(answer.read("meta"))?.["billed_units"]) ?? {};
  const usage = readPromptUsage(answer, estimate.promptTextBytes);
  const searches = readCount(billed["search_units"]);
  if (searches !== null) return { ...usage, searches, promptTokens: 0, estimated: false };
  return { ...usage, searches: estimate.searches };
}
