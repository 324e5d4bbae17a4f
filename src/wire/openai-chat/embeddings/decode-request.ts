import { fail, rejectField } from "../../../base/failures/errors.ts";
import { parseFields, readText, readWholeNumber, requireText } from "../../../base/json/check-fields.ts";
import { type Fields, omit } from "../../../base/json/fields.ts";
import { requireBodyBytes } from "../../../base/json/reject-excess.ts";
import { allFields, type JsonNode, LEAF } from "../../../base/json/scan.ts";
import { scanBody } from "../../../base/json/scan-body.ts";
import { BOUNDS } from "../../../base/numbers/bounds.ts";
import type { EmbeddingInput, EmbeddingsParameters } from "../../canonical/embeddings/embeddings.ts";
import { readInputs } from "../../canonical/embeddings/read-inputs.ts";
import { GATEWAY_FIELDS } from "../../conversation/gateway-fields.ts";
import { type RoutingParameters, readRoutingParameters } from "../../conversation/preferences.ts";
import { BYTES_PER_TOKEN } from "../../conversation/usage.ts";

/** The encoding of vectors: arrays of numbers, or base64 of 32-bit floats. */
export type VectorEncoding = "float" | "base64";

/** An embeddings request that was scanned and checked. Its bytes are unchanged; the nodes give the positions of its values. */
export interface EmbeddingsRequest extends RoutingParameters {
  readonly bytes: Buffer;
  /** The same bytes as a Latin-1 string. */
  readonly text: string;
  readonly root: JsonNode;
  readonly model: string;
  readonly encoding: VectorEncoding;
  readonly parameters: EmbeddingsParameters;
  /** Bytes of all texts. A token id counts as the average bytes of a token. */
  readonly promptTextBytes: number;
  /** Bytes of the longest input; each input must fit the model. */
  readonly longestBytes: number;
  /** The characters of the longest input. */
  readonly longestChars: number;
}

/** The fields that the gateway reads; everything else is forwarded unchanged. */
const SHAPE = allFields({
  model: LEAF,
  input: LEAF,
  dimensions: LEAF,
  encoding_format: LEAF,
  user: LEAF,
  safety_identifier: LEAF,
  prompt_cache_key: LEAF,
  input_type: LEAF,
  models: LEAF,
  provider: LEAF,
  session_id: LEAF,
  tags: LEAF,
  usage: LEAF,
});

const INPUT = { name: "input", most: BOUNDS.embeddingInputs } as const;

/** Fields that every format has, or that the gateway decides. */
const SHARED_FIELDS: ReadonlySet<string> = new Set([
  ...GATEWAY_FIELDS,
  "model",
  "input",
  "dimensions",
  "encoding_format",
  "input_type",
]);

/**
 * Scans and checks a request of OpenAI's embeddings API (docs/api/embeddings.md). Null counts as absent, unknown fields are
 * kept.
 * @throws GatewayError `invalid_request` that names the field and the remedy, `invalid_model` for a malformed model id.
 */
export function decodeEmbeddingsRequest(bytes: Buffer): EmbeddingsRequest {
  const { text, root, body } = parseBody(bytes);
  const model = requireText(body, "model", 'a string such as "openai/text-embedding-3-small"');
  if (model.length > BOUNDS.modelIdChars) fail("invalid_model", "model is too long to be a model id.");
  const inputs = readInputs(body["input"], INPUT);
  readText(body, "user");
  return {
    bytes,
    text,
    root,
    model,
    ...readRoutingParameters({ models: body["models"], provider: body["provider"], preset: body["preset"] }),
    encoding: readEncoding(body["encoding_format"]),
    parameters: {
      inputs,
      dimensions: readWholeNumber(body, "dimensions", 1),
      inputType: readText(body, "input_type"),
      extras: omit(body, SHARED_FIELDS),
    },
    promptTextBytes: inputs.reduce((sum, input) => sum + sizeOf(input, Buffer.byteLength), 0),
    longestBytes: inputs.reduce((most, input) => Math.max(most, sizeOf(input, Buffer.byteLength)), 0),
    longestChars: inputs.reduce((most, input) => Math.max(most, sizeOf(input, countChars)), 0),
  };
}

/** Scans for positions and duplicate fields, and parses the values. */
function parseBody(bytes: Buffer): { text: string; root: JsonNode; body: Fields } {
  requireBodyBytes(bytes, BOUNDS.embeddingsBodyBytes, "Send the texts in several requests.");
  return scanBody(bytes, SHAPE, (text, { root }) => ({
    text,
    root,
    body: parseFields(bytes.toString("utf8"), text),
  }));
}

function readEncoding(value: unknown): VectorEncoding {
  if (value === undefined || value === null) return "float";
  return value === "float" || value === "base64"
    ? value
    : rejectField("encoding_format", 'must be "float" or "base64"');
}

function sizeOf(input: EmbeddingInput, measure: (text: string) => number): number {
  return typeof input === "string" ? measure(input) : input.length * BYTES_PER_TOKEN;
}

function countChars(text: string): number {
  return text.length;
}
