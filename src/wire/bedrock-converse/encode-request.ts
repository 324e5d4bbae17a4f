import { fail } from "../../base/failures/errors.ts";
import { asFields, type Fields, isEmpty } from "../../base/json/fields.ts";
import { listLostFields } from "../canonical/fit/list-lost-fields.ts";
import type { EncodedRequest, ModelTarget } from "../canonical/model/format.ts";
import type { ConversationRequest, OutputFormat } from "../canonical/model/request.ts";
import type { Warning } from "../conversation/warning.ts";
import { SchemaLowerer } from "../json-schema/lower-schema.ts";
import { encodeConversation } from "./encode-messages.ts";
import { encodeSampling } from "./encode-sampling.ts";
import { encodeTools } from "./encode-tools.ts";
import type { BedrockEncoding } from "./encoding.ts";
import { readFamily } from "./model-family.ts";
import { planReasoning } from "./plan-reasoning.ts";
import { TRAITS } from "./traits.ts";
import { warnUnsupported } from "./warn-unsupported.ts";

/**
 * Encodes the body of a Converse or ConverseStream request; the URL selects which of the two.
 * @throws GatewayError `invalid_request` for more than one choice, and for media that Bedrock cannot fetch or read.
 */
export function encodeRequest(request: ConversationRequest, target: ModelTarget): EncodedRequest {
  if (request.n !== null && request.n > 1) {
    fail("invalid_request", "n must be 1 for this model; send the request several times.", {
      metadata: { field: "n" },
    });
  }
  const warnings: Warning[] = listLostFields(request, TRAITS);
  const encoding: BedrockEncoding = {
    target,
    family: readFamily(target.name),
    warn: (field, message) => warnings.push({ field, message }),
    schemas: new SchemaLowerer(),
  };
  warnUnsupported(request, encoding);
  const own = readOwnFields(request);
  const plan = planReasoning(request, encoding);
  const { system, messages } = encodeConversation(request, encoding);
  const { toolConfig, modelFields: toolFields } = encodeTools(request, encoding);
  const { inferenceConfig, modelFields: samplingFields } = encodeSampling(request, plan, encoding);
  const modelFields = {
    ...samplingFields,
    ...toolFields,
    ...plan.modelFields,
    ...asFields(own["additionalModelRequestFields"]),
  };
  const body = {
    messages,
    ...(system.length === 0 ? {} : { system }),
    ...(isEmpty(inferenceConfig) ? {} : { inferenceConfig }),
    ...(toolConfig === null ? {} : { toolConfig }),
    ...encodeOutputFormat(request.outputFormat, encoding),
    ...encodeServiceTier(request.serviceTier, encoding),
    ...encodeMetadata(request.metadata, encoding),
    ...askForStopSequence(request, encoding),
    ...own,
    ...(isEmpty(modelFields) ? {} : { additionalModelRequestFields: modelFields }),
  };
  return { body, warnings };
}

/** Fields that only Converse has: guardrails, latency, prompt variables. */
const OWN_FIELDS = [
  "additionalModelRequestFields",
  "additionalModelResponseFieldPaths",
  "guardrailConfig",
  "performanceConfig",
  "promptVariables",
  "requestMetadata",
];

function readOwnFields({ extras }: ConversationRequest): Fields {
  if (extras?.format !== "bedrock-converse") return {};
  return Object.fromEntries(
    OWN_FIELDS.flatMap((name) => (name in extras.fields ? [[name, extras.fields[name]]] : [])),
  );
}

const DEFAULT_SCHEMA_NAME = "answer";

function encodeOutputFormat(format: OutputFormat | null, { family, warn, schemas }: BedrockEncoding): Fields {
  switch (format?.kind) {
    case "json-schema": {
      // Claude accepts the fewest keywords. Other models ignore or reject what they do not support.
      const subset = family === "claude" ? "anthropic-output" : "bedrock";
      const { schema, loosened } = schemas.lower(format.schema, subset, "response_format.schema");
      for (const { field, message } of loosened) warn(field, message);
      const jsonSchema = {
        schema: JSON.stringify(schema),
        name: format.name ?? DEFAULT_SCHEMA_NAME,
        ...(format.description ? { description: format.description } : {}),
      };
      return { outputConfig: { textFormat: { type: "json_schema", structure: { jsonSchema } } } };
    }
    case "json":
      warn(
        "response_format",
        "This provider supports only JSON Schema as the format of answers; it was left out.",
      );
      return {};
    case "native":
      warn("response_format", "Another provider's format was left out.");
      return {};
    default:
      return {};
  }
}

/** Bedrock's service tiers by the names that clients use. */
const TIERS: Readonly<Record<string, string>> = {
  default: "default",
  standard: "default",
  standard_only: "default",
  flex: "flex",
  priority: "priority",
  reserved: "reserved",
};

function encodeServiceTier(tier: string | null, { warn }: BedrockEncoding): Fields {
  if (tier === null || tier === "auto") return {};
  const type = TIERS[tier];
  if (type !== undefined) return { serviceTier: { type } };
  warn("service_tier", `This provider has no tier "${tier}"; it was left out.`);
  return {};
}

const MAX_METADATA = 16;
/** The characters that keys and values may have (API reference, Converse, `requestMetadata`). */
const METADATA_TEXT = /^[a-zA-Z0-9\s:_@$#=/+,.-]{0,256}$/;

function encodeMetadata(metadata: ConversationRequest["metadata"], { warn }: BedrockEncoding): Fields {
  const entries = Object.entries(metadata ?? {});
  if (entries.length === 0) return {};
  const fits = entries.every(
    ([key, value]) =>
      key !== "" && METADATA_TEXT.test(key) && typeof value === "string" && METADATA_TEXT.test(value),
  );
  if (fits && entries.length <= MAX_METADATA) return { requestMetadata: metadata };
  warn("metadata", "This provider accepts up to 16 short texts of letters and digits; it was left out.");
  return {};
}

/** Asks Claude to report the stop sequence that ended the answer. */
function askForStopSequence(request: ConversationRequest, { family }: BedrockEncoding): Fields {
  if (family !== "claude" || request.stop.length === 0) return {};
  return { additionalModelResponseFieldPaths: [request.stream ? "/delta/stop_sequence" : "/stop_sequence"] };
}
