import { fail } from "../../base/failures/errors.ts";
import { type Fields, omit, setField } from "../../base/json/fields.ts";
import { hashText } from "../../base/json/hash-nodes.ts";
import { createDocumentReader, decodeBody, isEventStream } from "../canonical/answer/read-document.ts";
import type { AnswerRelay, RelayIdentity, WholeAnswer } from "../canonical/answer/relay.ts";
import { createWholeTranslation, TranslatedRelay } from "../canonical/answer/translate-relay.ts";
import type { AskedFor } from "../canonical/model/format.ts";
import { EMPTY_REQUEST } from "../canonical/model/request.ts";
import { USER_FIELDS } from "../conversation/user-fields.ts";
import { decodeFimRequest, FIM_FIELDS, type FimRequest } from "../mistral-fim/decode-request.ts";
import { relayChatAnswer } from "../openai-chat/passthrough/relay-response.ts";
import { ChatRelay } from "../openai-chat/passthrough/relay-stream.ts";
import { openaiChat } from "../openai-chat/translate/codec.ts";
import { type ClientApiDeclaration, SAMPLING } from "./client-api.ts";
import { fitToProfile } from "./fit/apply-profile.ts";
import { limitFields, renameFields, warnOfStoring } from "./fit/apply-provider.ts";
import { encodeHere, SAME_EVERYWHERE } from "./request/choose-target.ts";
import type {
  EncodedForUpstream,
  InferenceRequest,
  TextAnswers,
  UpstreamTarget,
} from "./request/inference-request.ts";
import { readTags } from "./request/request-tags.ts";
import { findSession, findUser, NO_HEADERS, type ReadHeader } from "./request/session-hints.ts";
import { PLAIN_DEMANDS, PLAIN_PROMPT, SINGLE_PROMPT } from "./request/single-prompt.ts";

/**
 * Parses a fill-in-the-middle request. Its answers are in the chat format, from the vendor and to the client (docs/api/fim.md).
 * @throws GatewayError as `decodeFimRequest`.
 */
export function parseFimRequest(
  bytes: Buffer,
  rename: (id: string) => string,
  headers: ReadHeader = NO_HEADERS,
): InferenceRequest {
  const fim = decodeFimRequest(bytes, rename);
  return {
    ...SINGLE_PROMPT,
    api: "fim",
    action: "fim",
    model: fim.model,
    fallbackModels: fim.fallbackModels,
    preferences: fim.preferences,
    preset: fim.preset,
    stream: fim.stream,
    maxTokens: fim.maxTokens,
    notice: fim.notice,
    session: findSession(
      { sessionId: fim.sessionId, promptCacheKey: fim.fields["prompt_cache_key"] },
      headers,
    ),
    user: findUser(fim.fields["user"], fim.fields["safety_identifier"]),
    tags: readTags(fim.tags, headers),
    prompt: {
      ...PLAIN_PROMPT,
      textBytes: fim.promptTextBytes,
      windowBytes: fim.promptTextBytes,
      countChars: () => fim.promptChars,
      listTexts: () => [fim.fields["prompt"], fim.fields["suffix"]].flatMap(toJson),
      hashPrefix: () => hashText(fim.promptStart),
    },
    demands: {
      ...PLAIN_DEMANDS,
      requireModel: requireCodeModel,
      listNeeds: () => ({ features: [], parameters: fim.parameters, contentField: "prompt" }),
    },
    encoding: encodeHere({ ...SAME_EVERYWHERE, encode: (target) => encodeFim(fim, target) }),
    // The parsed values and the encoded body.
    memory: { heldBytes: 2 * bytes.length },
  };
}

const ANSWERS: TextAnswers = {
  openRelay: (identity, { isDocument = false }) => ({
    relay:
      isDocument || identity.filter ? openTranslation(identity, isDocument) : new ChatRelay(identity, false),
  }),
  readAnswer: (body, identity) =>
    identity.filter || isEventStream(body)
      ? translateAnswer(body, identity)
      : relayChatAnswer(body, identity),
};

/** Mistral's fill in the middle (specification 4.2). The specification names the fixed path. */
export const FIM: ClientApiDeclaration = {
  name: "fim",
  access: "inference",
  operations: [{ method: "POST", path: "/fim/completions", fixedPath: "/api/fim/completions" }],
  parse: parseFimRequest,
  parameters: { ...SAMPLING, max_tokens: { field: "max_tokens" }, stop: { field: "stop" } },
};

/** The beginning of the ids of models for code (docs/api/fim.md). */
const MODEL_PREFIX = "mistralai/";

/** @throws GatewayError `invalid_model` for a model that is not for code. */
function requireCodeModel(id: string, field: string): void {
  if (id.toLowerCase().startsWith(MODEL_PREFIX)) return;
  fail(
    "invalid_model",
    `Fill-in-the-middle takes models that begin with "${MODEL_PREFIX}", such as "mistralai/codestral-latest"; ${quote(id)} does not.`,
    { metadata: { field, model: id } },
  );
}

/** Rejected fields are not removed from these bodies. */
const NONE: ReadonlySet<string> = new Set();

function encodeFim({ fields }: FimRequest, target: UpstreamTarget): EncodedForUpstream {
  const { provider, maxTokens } = target;
  const bound = maxTokens ? { max_tokens: maxTokens } : {};
  const hidden = hideUser(fields, (user) => target.hashUser(user));
  const kept = provider.storingFields === undefined ? hidden : omit(hidden, provider.storingFields);
  const named: Record<string, unknown> = { model: provider.model.name, ...kept, ...bound };
  renameFields(named, provider.renames);
  const limited = limitFields(named, provider.knownFields === null ? null : FIM_FIELDS);
  const { body, warnings } = fitToProfile(limited.body, { ...provider, refusedFields: NONE });
  return {
    format: provider.format,
    body: Buffer.from(JSON.stringify(body)),
    heldBytes: 0,
    repair: null,
    carriesReasoning: false,
    answers: ANSWERS,
    warnings: [...warnOfStoring(Object.keys(fields), provider), ...limited.warnings, ...warnings],
  };
}

function openTranslation(identity: RelayIdentity, isDocument: boolean): AnswerRelay {
  const reader = isDocument ? createDocumentReader(openaiChat) : openaiChat.createReader();
  return new TranslatedRelay(reader, openaiChat.createWriter(identity, FACTS), identity);
}

function translateAnswer(body: string, identity: RelayIdentity): WholeAnswer {
  const recipient = { codec: openaiChat, identity, asked: FACTS };
  return createWholeTranslation(decodeBody(openaiChat, body), recipient);
}

/** The facts that decide the form of a chat stream. */
const FACTS: AskedFor = {
  request: { ...EMPTY_REQUEST, messages: [] },
  wantsUsageChunk: false,
  estimatedPromptTokens: 0,
};

function toJson(value: unknown): Buffer[] {
  return typeof value === "string" ? [Buffer.from(JSON.stringify(value))] : [];
}

function hideUser(fields: Fields, hashUser: (user: string) => string): Fields {
  const hidden: Record<string, unknown> = { ...fields };
  for (const field of USER_FIELDS) {
    const user = fields[field] ?? null;
    if (user !== null)
      setField(hidden, field, hashUser(typeof user === "string" ? user : JSON.stringify(user)));
  }
  return hidden;
}

function quote(id: string): string {
  return JSON.stringify(id.slice(0, 100));
}
