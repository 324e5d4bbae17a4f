import type { ComposedBytes } from "../../../base/text/composed-bytes.ts";
import type { CalledTurn } from "../../canonical/answer/called-turn.ts";
import type { AnswerHead, AnswerRelay, RelayIdentity, WholeAnswer } from "../../canonical/answer/relay.ts";
import type { RenamedTools } from "../../canonical/fit/flatten-tools.ts";
import type { ChatTraits } from "../../canonical/model/chat-traits.ts";
import type { ModelTarget } from "../../canonical/model/format.ts";
import type { CacheableShape, CacheMarking, MarkedCache } from "../../conversation/cache-marking.ts";
import type { Repair, ToolCallRules } from "../../conversation/calls/outline.ts";
import type { RequestCharges } from "../../conversation/charges.ts";
import type { RequestNeeds } from "../../conversation/needs.ts";
import type { ParameterRules, ParameterView } from "../../conversation/parameter-rules.ts";
import type { ProviderPreferences } from "../../conversation/preferences.ts";
import type { RequestProfile } from "../../conversation/request-profile.ts";
import type { StoredReference } from "../../conversation/stored-data.ts";
import type { ProviderFormat } from "../../conversation/traits/format-name.ts";
import type { Warning } from "../../conversation/warning.ts";
import type { AddedItem, ItemsById, JoinedState } from "../../openai-responses/state/join-input.ts";
import type { AskedState } from "../../openai-responses/state/read-state.ts";

/** The client APIs by the names that records use. */
export type ClientApi =
  | "chat.completions"
  | "responses"
  | "messages"
  | "completions"
  | "fim"
  | "embeddings"
  | ForwardedApi;

/** The client APIs whose requests and answers are forwarded unchanged (docs/api/other-endpoints.md). */
export type ForwardedApi = "moderations" | "rerank" | "images" | "speech" | "transcriptions";

/** The kind of provider endpoint that a request needs. Text completions are sent to chat endpoints where there is no other. */
export type InferenceAction = "chat" | "completions" | "fim" | "embeddings" | ForwardedApi;

/**
 * A request to a model from any client API: what the client has stated, and by concern what routing and metering need to know of it, how it
 * is encoded for an upstream, and what memory it takes.
 */
export interface InferenceRequest {
  readonly api: ClientApi;
  /** The format of its client API; null where no upstream has that format. */
  readonly format: ProviderFormat | null;
  readonly action: InferenceAction;
  readonly model: string;
  /** Models to fall back to, in the client's order. */
  readonly fallbackModels: readonly string[];
  readonly preferences: ProviderPreferences;
  /** The name of a preset in `preset`; null where the request has none. */
  readonly preset: string | null;
  readonly stream: boolean;
  /** The client's limit of tokens per answer; null where it sets none. */
  readonly maxTokens: number | null;
  /** The number of answers. */
  readonly answers: number;
  /** Whether body and answer are JSON or events in UTF-8. Others are neither logged nor given again. */
  readonly isText: { readonly body: boolean; readonly answer: boolean };
  /** A notice for a response header about how the request was changed; null for none. */
  readonly notice: string | null;
  /** The client's id of the conversation, at most 256 characters; null where it sends none. Never logged. */
  readonly session: string | null;
  /** The client's id of the end user; null where it sends none. Never logged. */
  readonly user: string | null;
  /** What the client marks the request with, for usage reports: valid, without duplicates, in its order. Empty for none. */
  readonly tags: readonly string[];
  readonly prompt: RequestPrompt;
  readonly demands: RequestDemands;
  readonly encoding: RequestEncoding;
  readonly memory: ReadingMemory;
  /** Reads what it asks of responses that the gateway keeps. Absent: its API has no such responses. */
  readState?(): RequestState;
}

/** What a request asks of kept responses, and how it is joined with what it continues. The functions read its body. */
export interface RequestState {
  readonly asked: AskedState;
  /** The size of its body. */
  readonly bytes: number;
  /** Returns the items that it adds, with those that it refers to. */
  listAdded(referenced: ItemsById): readonly AddedItem[];
  /** Returns the body with what it continues in its input, and without the fields about state. */
  join(state: JoinedState): Buffer;
}

/** What the model gets to read. Functions read the request's body; hashes are computed on the first call. */
export interface RequestPrompt {
  /** Bytes of text in the conversation without media, from which the prompt's tokens are estimated and bounded. */
  readonly textBytes: number;
  /**
   * Bytes of text that must fit the model's context window: the same for conversations, the longest input for embeddings, 0 where
   * the vendor may shorten the prompt.
   */
  readonly windowBytes: number;
  /** Whether it may hold images, files, audio or video. */
  readonly mayHaveMedia: boolean;
  /** Whether it has tools or a schema of the answer, to which vendors add instructions of their own. */
  readonly hasSchemas: boolean;
  /** Returns the number of characters of the text that must fit the window. */
  countChars(): number;
  /**
   * Returns the texts that the model certainly gets, as JSON strings, which are views of the body where possible. Empty where they
   * are unknown.
   */
  listTexts(): readonly Uint8Array[];
  /** Returns a hash of the part of a conversation that stays the same from turn to turn: tools, instructions and the first user message. */
  hashPrefix(): string;
  /** Returns a hash of what requests of one kind share: instructions and tools. Absent like the shape. */
  hashShared?(): string;
  /** Returns what decides whether marks for a vendor's prompt cache pay. Absent: the request has no place for marks. */
  readCacheableShape?(): CacheableShape;
  /** Returns what decides whether the request can be sent under zero data retention. Absent: nothing of it is in the way. */
  readRetention?(): RequestRetention;
  /** Whether it may hold reasoning that a vendor signed or encrypted, which only that vendor's account can read. Absent: it holds none. */
  bindsReasoning?(): boolean;
}

/** What a request demands of a model and its endpoint. Functions read the request's body. */
export interface RequestDemands {
  /** Rejects a model that the API is not for, named in `field`. Absent: it takes every model. @throws GatewayError `invalid_model`. */
  readonly requireModel?: (id: string, field: string) => void;
  /** Returns the features and parameters that not every deployment of the model supports. */
  listNeeds(): RequestNeeds;
  /** Returns a view of the parameters that it sets, which are read when they are asked for. Absent: it is no conversation. */
  viewParameters?(): ParameterView;
  /** Returns what may be charged for the request besides its tokens. */
  listCharges(): RequestCharges;
  /**
   * Returns the format that has what others lack, which is preferred: the only one with some of its tools, such as those that the
   * vendor runs, or that of text completions. Null if every format will do.
   */
  formatOfTools(): ProviderFormat | null;
}

/** How a request is encoded for upstreams. The client's bytes are not changed. */
export interface RequestEncoding {
  /**
   * Chooses how the request is sent to an endpoint, which is described by one target for each of its formats. Encodes nothing.
   * @throws GatewayError as `encode`.
   */
  plan(targets: readonly UpstreamTarget[]): EncodingPlan;
  /**
   * Encodes the request for a target.
   * @throws GatewayError `invalid_request` for what the target's format cannot express and must not leave out.
   */
  encode(target: UpstreamTarget): EncodedForUpstream;
}

/** How a request is encoded for the target that it loses least at (`chooseTarget`). */
export interface EncodingPlan<Encoded extends EncodedForUpstream = EncodedForUpstream> {
  /**
   * Returns the names of stored turns that encoding may recall (`UpstreamTarget.recallTurn`), which should be loaded before. Null where it
   * recalls none.
   */
  nameTurns(): TurnNames | null;
  /** Encodes in another thread what would take long here; null if `encode` is quick. */
  readonly offloaded: OffloadedEncoding | null;
  /** @throws GatewayError as `RequestEncoding.encode`. */
  encode(): Encoded;
}

/** The memory that a request takes besides its body. */
export interface ReadingMemory {
  /** Approximate memory of what was read from the body, in bytes: the text and the nodes. */
  readonly heldBytes: number;
  /**
   * Releases what was read from the body, except what reading an answer needs. It is read again from the body when it is needed. Absent if
   * a request cannot be read again.
   */
  releaseReading?(): void;
}

/** What a request asks a vendor to store. */
export interface RequestRetention {
  /** What refers to data that a vendor stores, and cannot be left out; null for nothing. */
  readonly reference: StoredReference | null;
  /** It asks for a prompt cache in memory, which is not storage. */
  readonly cachesInMemory: boolean;
}

/** How a conversation's turns are stored (`nameTurn`). */
export interface TurnNames {
  /** A hash of the whole conversation, which is what precedes its answer. */
  readonly prefix: string;
  /** Returns the names of the turns that it has. */
  readonly list: () => readonly string[];
}

/** Reads the answer of the upstream that a request was encoded for. */
export type UpstreamAnswers = TextAnswers | ByteAnswers;

/** Reads answers whose whole body is text. */
export interface TextAnswers {
  readonly readsBytes?: false;
  /** Returns a relay for a stream. */
  openRelay(identity: RelayIdentity, head: AnswerHead): OpenedRelay;
  /** Reads a whole answer. */
  readAnswer(body: string, identity: RelayIdentity): WholeAnswer;
}

/** Reads answers that are passed on as bytes, and may be audio. */
export interface ByteAnswers {
  readonly readsBytes: true;
  openRelay(identity: RelayIdentity, head: AnswerHead): OpenedRelay;
  readAnswer(body: Buffer, identity: RelayIdentity, head: AnswerHead): WholeAnswer<Buffer>;
}

/** A relay for a stream. While it is open, the request is encoded for no other upstream. */
export interface OpenedRelay {
  readonly relay: AnswerRelay;
  /** Releases the request's body: from then on only the answer is read. Returns the bytes that stay held. Absent: nothing can be released. */
  readonly releaseBody?: () => number;
}

/** The format of a provider and its deviations from that format. */
export interface ProviderTarget {
  readonly format: ProviderFormat;
  readonly model: ModelTarget;
  readonly toolCalls: ToolCallRules;
  /** The provider does not accept `stream_options`. */
  readonly noStreamOptions: boolean;
  /** Fields that the provider names differently, as pairs of client name and provider name. */
  readonly renames: readonly (readonly [string, string])[];
  /** The only request and message fields that the provider accepts; null where it ignores unknown ones. */
  readonly knownFields: ReadonlySet<string> | null;
  /** Further message fields that the provider accepts. Only used if `knownFields` is not null. */
  readonly knownMessageFields: ReadonlySet<string>;
  /** The provider accepts `thinking` parts in contents. */
  readonly takesThinkingParts: boolean;
  /** The provider supports tools of type `custom`. Only used for OpenAI's formats. */
  readonly takesCustomTools: boolean;
  /** The provider supports tools of type `namespace`. Only used for Responses hosts; absent: it does not. */
  readonly takesToolNamespaces?: boolean;
  /** Fields that the provider does not get: those that it rejects, and most of `storingFields`. */
  readonly refusedFields: ReadonlySet<string>;
  /** Under zero data retention: fields that ask for storage. Absent: they are sent. */
  readonly storingFields?: ReadonlySet<string>;
  /** The provider stores chats unless the request says `store: false`. */
  readonly storesChats?: boolean;
  /** `store: false` is sent, whatever the client sent. Absent: not. */
  readonly sendsStoreFalse?: boolean;
  /** False: the provider has JSON output, but no parameter for a JSON Schema. */
  readonly takesSchemas?: boolean;
  /** How messages of the chat format differ at the provider from OpenAI's. */
  readonly traits: ChatTraits;
  /** In this format the model supports tools only while it does not reason. */
  readonly noToolsWhileReasoning?: boolean;
  /** In the chat format the provider accepts `reasoning_details` of earlier turns, including encrypted ones. */
  readonly takesReasoningDetails?: boolean;
  /** Members that the body must have at the provider, as JSON; null: members that it must not have. */
  readonly bodyFields: Readonly<Record<string, string | null>>;
  /** What the endpoint takes of a request's parameters; absent or null: everything. */
  readonly takes?: ParameterRules | null;
  /** What of a request is sent, because its cost is known; absent or null: everything. */
  readonly profile?: RequestProfile | null;
  /** How the endpoint caches prompts by marks; absent or null: it does not, or that is not known. */
  readonly markedCache?: MarkedCache | null;
}

/** The gateway's own parameters for reasoning and length, which replace the client's (docs/api/models.md, "Auto tiers"). */
export interface ParameterOverrides {
  /** Absent: the client's. A null effort: reasoning is on and the model chooses the amount. */
  readonly reasoning?: { readonly effort: string | null };
  /** Absent: the client's. `unsupported`: a verbosity that the provider has no parameter for, so that none is sent. */
  readonly verbosity?: string | { readonly unsupported: string };
}

/** A provider, and how this request is sent to it. */
export interface UpstreamTarget {
  readonly provider: ProviderTarget;
  /** False: reasoning of earlier turns is left out, because the vendor rejected it. */
  readonly withReasoning: boolean;
  /** A limit of tokens per answer that is lower than the client's; absent or null: the client's limit. */
  readonly maxTokens?: number | null;
  /** Null: no overrides. */
  readonly overrides: ParameterOverrides | null;
  /** Where the gateway marks the prompt for the vendor's cache; absent or null: nowhere. */
  readonly cacheMarking?: CacheMarking | null;
  /** Returns the turn that is stored under a name; null where none is. */
  recallTurn(name: string): CalledTurn | null;
  /** False: `recallTurn` certainly returns null. Absent: that is not known. */
  readonly hasTurns?: boolean;
  /** Returns a stable hash that the vendor gets in place of the client's user. */
  hashUser(user: string): string;
}

/** The plain data that another thread needs to encode a request. */
export interface EncodeJob {
  readonly api: "chat.completions" | "responses" | "messages";
  /** A copy of the client's body. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** The formats of one endpoint. The best one is chosen. */
  readonly targets: readonly Omit<UpstreamTarget, "recallTurn" | "hasTurns" | "hashUser">[];
  /** Stored turns by name. */
  readonly turns: ReadonlyMap<string, CalledTurn>;
  /** The answer is translated even if the client's bytes are forwarded. */
  readonly readsThroughHub: boolean;
}

/** The result of an `EncodeJob`. */
export interface EncodedJob {
  readonly encoded: EncodedBody;
  /** What is needed to translate the answer; null if it is relayed unchanged. */
  readonly answering: AnswerContext | null;
}

/** The plain data of an encoded request that is needed to translate its answer. */
export interface AnswerContext {
  readonly renamed: RenamedTools;
  /** The beginning of the answer that the vendor repeats; null for none. */
  readonly prefill: string | null;
  /** The result of `ClientCodec.keepForAnswer` as JSON: one string is cheaper to move between threads than many values. */
  readonly request: string;
}

/** An encoding for another thread. Its functions may be called unbound. */
export interface OffloadedEncoding {
  /** Makes the job, which chooses the target and encodes for it. Called when the job starts, because it copies the body. */
  readonly describe: () => EncodeJob;
  /** Takes over what the answer's translation needs from the job's result, and returns the encoded request. */
  readonly adopt: (made: EncodedJob) => EncodedForUpstream;
}

/** An encoded request, and the reader of its answer. */
export interface EncodedForUpstream extends EncodedBody {
  readonly answers: UpstreamAnswers;
}

/** An encoded request, as plain data. */
export interface EncodedBody {
  /** The format of the target. */
  readonly format: ProviderFormat;
  /** May share the bytes of the client's body. */
  readonly body: Buffer | ComposedBytes;
  /** Approximate memory that was allocated for it and lives as long as the request, in bytes. */
  readonly heldBytes: number;
  /** Headers for the vendor that this request adds, such as some of the client's; absent: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The tool-call repair; null where nothing had to change. */
  readonly repair: Repair | null;
  /** It holds reasoning of earlier turns, which could be left out. */
  readonly carriesReasoning: boolean;
  /** Warnings about what the target could not express. */
  readonly warnings: readonly Warning[];
}
