import type { ProviderPreferences } from "../../conversation/preferences.ts";
import type { ProviderFormat } from "../../conversation/traits/format-name.ts";
import type {
  EncodeJob,
  InferenceRequest,
  ReadingMemory,
  RequestDemands,
  RequestPrompt,
  RequestState,
} from "../request/inference-request.ts";
import { ConversationEncoding } from "./conversation-encoding.ts";
import { ConversationPrompt } from "./conversation-prompt.ts";
import { type ClientRequestParts, ConversationReading, type RequestSource } from "./conversation-reading.ts";

/** A parsed request of a client API for conversations. */
export interface ClientRequest extends InferenceRequest {
  readonly encoding: ConversationEncoding;
}

/**
 * Creates a request of a client API. It is forwarded to upstreams of its own format and translated for all others. `read` reads the
 * request, and is called again for what is needed after it was released. `rename` resolves the operator's aliases of model ids.
 * @throws what `read` throws.
 */
export function createClientRequest(
  source: RequestSource,
  read: (source: RequestSource) => ClientRequestParts,
  rename: (id: string) => string,
): ClientRequest {
  return new ConversationInferenceRequest(new ConversationReading(source, read), rename);
}

const TEXT = { body: true, answer: true };

class ConversationInferenceRequest implements ClientRequest {
  readonly api: EncodeJob["api"];
  readonly format: ProviderFormat;
  readonly action = "chat";
  readonly model: string;
  readonly fallbackModels: readonly string[];
  readonly preferences: ProviderPreferences;
  readonly preset: string | null;
  readonly stream: boolean;
  readonly maxTokens: number | null;
  readonly answers: number;
  readonly isText = TEXT;
  readonly notice = null;
  readonly session: string | null;
  readonly user: string | null;
  readonly tags: readonly string[];
  readonly prompt: RequestPrompt;
  readonly demands: RequestDemands;
  readonly encoding: ConversationEncoding;
  readonly memory: ReadingMemory;
  readonly readState?: () => RequestState;

  constructor(reading: ConversationReading, rename: (id: string) => string) {
    const { parts } = reading;
    const { scanned } = parts;
    this.api = parts.api;
    this.format = reading.format;
    this.model = rename(scanned.model);
    const { fallbackModels } = scanned;
    this.fallbackModels = fallbackModels.length === 0 ? fallbackModels : fallbackModels.map(rename);
    this.preferences = scanned.preferences;
    this.preset = scanned.preset;
    this.stream = scanned.stream;
    this.maxTokens = scanned.maxTokens;
    this.answers = scanned.answers ?? 1;
    this.session = parts.session;
    this.user = parts.user;
    this.tags = parts.tags;
    this.prompt = new ConversationPrompt(reading);
    this.demands = reading;
    this.encoding = new ConversationEncoding(reading);
    this.memory = reading;
    if (parts.readState !== undefined) this.readState = () => reading.parts.readState?.() as RequestState;
  }
}
