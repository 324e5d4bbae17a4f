import type { CalledTurn } from "../canonical/called-turn.ts";
import type { RenamedTools } from "../canonical/flatten-tools.ts";
import type { ModelTarget } from "../canonical/format.ts";
import type { AnswerRelay, RelayIdentity, WholeAnswer } from "../canonical/relay.ts";
import type { RequestCharges } from "../conversation/charges.ts";
import type { FormatName } from "../conversation/format-name.ts";
import type { RequestNeeds } from "../conversation/needs.ts";
import type { Repair, ToolCallRules } from "../conversation/outline.ts";
import type { ProviderPreferences } from "../conversation/preferences.ts";
import type { Warning } from "../conversation/warning.ts";

/** The client APIs, in the words that records use. */
export type ClientApi = "chat.completions" | "responses" | "messages" | "fim" | "embeddings";

/** Which of a provider's endpoints a request needs. */
export type InferenceAction = "chat" | "fim" | "embeddings";

/**
 * A request to a model, whichever client API it came in: what routing and metering see of it, how it is put for an
 * upstream, and how the upstream's answer is read back for this client.
 */
export interface InferenceRequest {
  readonly api: ClientApi;
  /** The format of its client API; null where no upstream has it. */
  readonly format: FormatName | null;
  readonly action: InferenceAction;
  readonly model: string;
  /** Models to fall back to, in the client's order. */
  readonly fallbackModels: readonly string[];
  readonly preferences: ProviderPreferences;
  readonly stream: boolean;
  /** The most tokens that the client lets an answer have; null where it does not say. */
  readonly maxTokens: number | null;
  /** How many answers it wants. */
  readonly answers: number;
  /** What the client should know of how its request was changed, for a header; null for nothing. */
  readonly notice: string | null;
  /** Memory that it holds beside its body: the text read of it, and what is known of its parts. Bytes, about. */
  readonly heldBytes: number;
  /** Bytes of text in the conversation, media left out; estimates and bounds of the prompt's tokens are made of it. */
  readonly promptTextBytes: number;
  /** Bytes of text that must fit the model's window together: the same, of embeddings the longest input; 0 where the vendor may shorten it. */
  readonly windowTextBytes: number;
  /** Characters of that. Counted when asked for. */
  countPromptChars(): number;
  /** What the client says tells its conversation apart, at most 256 characters; null where it says nothing. Goes to no log. */
  readonly session: string | null;
  /** Who the client says it asks for; null where it does not say. As `session`. */
  readonly user: string | null;
  /**
   * A fingerprint of what stays the same in a conversation from turn to turn: tools, instructions and the first user's
   * message. Computed when first asked for.
   */
  hashPrefix(): string;
  /** The texts of that which a vendor's model certainly sees, as JSON strings; views of the body where they can be. Empty where they are not known. */
  listPromptText(): readonly Uint8Array[];
  /** What it uses that not every offer of its model takes. Looked for when asked for. */
  listNeeds(): RequestNeeds;
  /** Whether images, files, audio or video may be among that. */
  readonly mayHaveMedia: boolean;
  /** The format that alone has some of its tools, such as those that the vendor runs; null: there are none. Looked for when asked for. */
  formatOfTools(): FormatName | null;
  /** What may be charged for it beside its tokens. Looked for when asked for. */
  listCharges(): RequestCharges;
  /**
   * What `encode` would leave out for a target; changes nothing. Asked only where an endpoint speaks several formats.
   * @throws GatewayError as `encode`.
   */
  listLosses(target: UpstreamTarget): readonly Warning[];
  /**
   * The names of remembered turns that `encode` may recall for one of these targets (`UpstreamTarget.recallTurn`). Empty where the
   * request has none, or where its bytes are forwarded.
   */
  listTurnNames(targets: readonly UpstreamTarget[]): readonly string[];
  /**
   * The body for an upstream.
   * @throws GatewayError `invalid_request` for what the target's format cannot express and must not leave out.
   */
  encode(target: UpstreamTarget): EncodedForUpstream;
  /**
   * What it takes to choose one of these targets and to encode for it in another thread; null where both are quick. What the
   * thread makes is given to `adopt`, in place of what `encode` would give.
   */
  encodeApart(targets: readonly UpstreamTarget[]): ApartEncoding | null;
  /** Reads the stream of an upstream of that format. `isDocument`: it sent one JSON document in place of a stream. */
  openRelay(format: FormatName, identity: RelayIdentity, isDocument?: boolean): AnswerRelay;
  /** Reads the whole answer of an upstream of that format. `body` is its text. */
  readAnswer(format: FormatName, body: string, identity: RelayIdentity): WholeAnswer;
}

/** What the chosen provider speaks, and what it wants to be different. */
export interface ProviderTarget {
  readonly format: FormatName;
  readonly model: ModelTarget;
  readonly toolCalls: ToolCallRules;
  /** It takes no `stream_options`. */
  readonly noStreamOptions: boolean;
  /** Fields that it spells otherwise: from, to. */
  readonly renames: readonly (readonly [string, string])[];
  /** All that a request's fields may be there, and its messages' likewise; null where nobody minds. */
  readonly knownFields: ReadonlySet<string> | null;
  /** Where that is not null: further fields of a message that it takes. */
  readonly knownMessageFields: ReadonlySet<string>;
  /** It takes `thinking` parts in contents. */
  readonly takesThinkingParts: boolean;
  /** It knows tools of type `custom`. Only asked of chat hosts. */
  readonly takesCustomTools: boolean;
  /** Fields that it refuses. */
  readonly refusedFields: ReadonlySet<string>;
  /** It wants the reasoning of earlier turns back as `reasoning_content`. */
  readonly wantsReasoningContent: boolean;
  /** In this format its model takes tools only while it does not reason. */
  readonly noToolsWhileReasoning?: boolean;
  /** In the chat format it takes `reasoning_details` of earlier turns, encrypted ones with them. */
  readonly takesReasoningDetails?: boolean;
  /** Members that the body must have there, or with null must not have. */
  readonly bodyFields: Readonly<Record<string, string | null>>;
}

/** Sampling fields that not every model takes. */
export type SamplingField = "temperature" | "top_p";

/** What the gateway says of reasoning and length in place of what the client did (docs/contract.md, "Auto tiers"). */
export interface ParameterOverrides {
  /** Absent: as the client wishes. A null effort: reasoning is on, how much is the model's own choice. */
  readonly reasoning?: { readonly effort: string | null };
  /** Absent: as the client wishes. `unsaid`: what the provider cannot be told, so that nothing is said of it. */
  readonly verbosity?: string | { readonly unsaid: string };
  /** What the client sets and the model does not take: it did not choose the model. */
  readonly leaveOut?: readonly SamplingField[];
}

/** A provider, and how this request goes to it. */
export interface UpstreamTarget extends ProviderTarget {
  /** False: reasoning of earlier turns is left out, because the vendor refused it. */
  readonly withReasoning: boolean;
  /** The most tokens that each answer may have, where that is fewer than the client wants; absent or null: as the client says. */
  readonly maxTokens?: number | null;
  /** Null: all as the client says. */
  readonly overrides: ParameterOverrides | null;
  /** What the gateway remembers of the turn that made a call; null where it remembers none. */
  readonly recallTurn: (callId: string) => CalledTurn | null;
  /** What the vendor is told in place of the client's user: the same for the same, and nothing that names them. */
  readonly hashUser: (user: string) => string;
}

/** What another thread needs to encode a request. Data alone. */
export interface EncodeJob {
  readonly api: "chat.completions" | "responses" | "messages";
  /** The client's body, a copy of the job's own. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** The formats of one endpoint; the best is chosen. */
  readonly targets: readonly Omit<UpstreamTarget, "recallTurn" | "hashUser">[];
  /** What the gateway remembers of turns, by the call that each is asked for by. */
  readonly turns: ReadonlyMap<string, CalledTurn>;
  /** The way back of the answer needs the request even where the client's bytes go out. */
  readonly readsThroughHub: boolean;
}

/** What comes back of it. */
export interface EncodedApart {
  readonly encoded: EncodedForUpstream;
  /** The format of the target that was chosen. */
  readonly format: FormatName;
  /** What the way back of the answer depends on; null where the answer passes as it is. */
  readonly answering: AnswerContext | null;
}

/** What of an encoded request its answer's way back depends on. Data alone. */
export interface AnswerContext {
  readonly renamed: RenamedTools;
  /** What `ClientCodec.keepForAnswer` keeps, as JSON: one text is moved between threads more cheaply than many values. */
  readonly request: string;
}

/** An encoding that another thread is to do. */
export interface ApartEncoding {
  /** Made when its turn has come: it copies the body. */
  describe(): EncodeJob;
  adopt(made: EncodedApart): EncodedForUpstream;
}

/** A request as it goes out. */
export interface EncodedForUpstream {
  readonly body: Buffer;
  /** Memory that was made for it and stays as long as the request: 0 where the client's own bytes go out. Bytes, about. */
  readonly heldBytes: number;
  /** Headers of the client's that the vendor is to see. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What tool-call repair did; null where nothing had to change. */
  readonly repair: Repair | null;
  /** Reasoning of earlier turns is in it, which could be left out. */
  readonly carriesReasoning: boolean;
  /** What the target could not express. */
  readonly warnings: readonly Warning[];
}
