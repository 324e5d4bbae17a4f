import { parseFields } from "../../../base/json/check-fields.ts";
import type { Fields } from "../../../base/json/fields.ts";
import { hashNodes } from "../../../base/json/hash-nodes.ts";
import {
  isWord,
  itemsOf,
  type JsonNode,
  lookUp,
  memberOf,
  type WordTable,
  wordTable,
} from "../../../base/json/scan.ts";
import type { CalledTurn } from "../../canonical/answer/called-turn.ts";
import { isEventStream } from "../../canonical/answer/read-document.ts";
import type { AnswerHead, AnswerRelay, RelayIdentity, WholeAnswer } from "../../canonical/answer/relay.ts";
import type { AskedFor, ClientCodec } from "../../canonical/model/format.ts";
import { CACHE_CONTROL, type CacheableShape } from "../../conversation/cache-marking.ts";
import type { RequestCharges } from "../../conversation/charges.ts";
import type { RequestNeeds } from "../../conversation/needs.ts";
import type { ParameterView } from "../../conversation/parameter-rules.ts";
import type { ProviderPreferences } from "../../conversation/preferences.ts";
import { sizeOf, sliceTexts } from "../../conversation/prompt-nodes.ts";
import type { ScannedRequest } from "../../conversation/scanned-request.ts";
import type { SentConversation } from "../../conversation/sent-turns.ts";
import { findStoredReference } from "../../conversation/stored-data.ts";
import type { ProviderFormat } from "../../conversation/traits/format-name.ts";
import type { Warning } from "../../conversation/warning.ts";
import { viewParameters } from "../fit/fit-parameters.ts";
import { weighLosses } from "../request/choose-target.ts";
import { countChars } from "../request/count-chars.ts";
import type {
  AnswerContext,
  EncodedBody,
  EncodeJob,
  InferenceRequest,
  OffloadedEncoding,
  OpenedRelay,
  RequestRetention,
  TextAnswers,
  TurnNames,
  UpstreamTarget,
} from "../request/inference-request.ts";
import {
  decodedBytesOf,
  heldBytesOf,
  isQuickToForward,
  isQuickToTranslate,
} from "../request/request-size.ts";
import type { ReadHeader } from "../request/session-hints.ts";
import { BREAKPOINT, type ForwardFit, type Forwarding, fitForwarding } from "./forward-fit.ts";
import { type Decoded, type Decoding, HubAnswers, HubRequest } from "./hub-request.ts";
import { NamedTurns } from "./list-turn-names.ts";

/** What one client API makes of one request. Its methods read the request's body. */
export interface ClientRequestParts extends Omit<Decoding, "parseWhole" | "format">, Forwarding {
  readonly api: EncodeJob["api"];
  readonly scanned: ScannedConversation;
  /** Types of tools that other formats have as well. Null: all. */
  readonly commonTools: WordTable<true> | null;
  readonly session: string | null;
  readonly user: string | null;
  readonly tags: readonly string[];
  readonly client: ClientCodec;
  readonly facts: Omit<AskedFor, "request">;
  readonly answering: OwnAnswers;
  /** Headers for upstreams of the client's own format, whether the request is forwarded or translated. Null: none. */
  readonly upstreamHeaders: Readonly<Record<string, string>> | null;
  /** Reads what tells the conversation from others, and where its turns are. */
  readConversation(): SentConversation;
  /** Lists the prefix that identifies a conversation, see `InferenceRequest.hashPrefix`. */
  listPrefix(): readonly JsonNode[];
  listCharges(): RequestCharges;
  /** Returns what requests of one kind share: the tools and the instructions before the turns. */
  listShared(): readonly JsonNode[];
}

/** How answers in the client's own format are read. It outlives the request's body, so its functions must not refer to that. */
export interface OwnAnswers {
  /** They are translated too. Absent: they are relayed. */
  readonly readsThroughHub?: boolean;
  openRelay(identity: RelayIdentity): AnswerRelay;
  readAnswer(body: string, identity: RelayIdentity): WholeAnswer;
}

/** The fields of a scanned request that only some client APIs have. */
interface ScannedConversation extends ScannedRequest {
  /** Absent: 1. */
  readonly answers?: number;
  /** The vendor may shorten the conversation before its model sees it. Absent: false. */
  readonly mayBeShortened?: boolean;
}

/** A parsed request of a client API for conversations. */
export interface ClientRequest extends InferenceRequest {
  encode(target: UpstreamTarget): EncodedConversation;
}

interface EncodedConversation extends EncodedBody {
  readonly answers: ConversationAnswers;
}

/** The body of a request, and the client's headers. */
export interface RequestSource {
  readonly bytes: Buffer;
  readonly headers: ReadHeader;
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
  return new ConversationInferenceRequest(source, read, rename);
}

const TEXT = { body: true, answer: true };

class ConversationInferenceRequest implements ClientRequest, Decoding {
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
  readonly promptTextBytes: number;
  readonly windowTextBytes: number;
  readonly heldBytes: number;
  readonly session: string | null;
  readonly user: string | null;
  readonly tags: readonly string[];
  readonly mayHaveMedia: boolean;
  readonly hasSchemas: boolean;
  /** Created by the first translation; most requests need none. */
  private translation: HubRequest | null = null;
  private readonly answering: OwnAnswers;
  /** Null while they are released. */
  private held: ClientRequestParts | null = null;
  /** Null before they are read. */
  private conversation: SentConversation | null = null;
  private named: NamedTurns | null = null;
  private prefix: string | null = null;
  private shared: string | null = null;
  private charges: RequestCharges | null = null;
  /** The target that was asked about last, and how the client's bytes are forwarded to it; null where they are not. */
  private asked: UpstreamTarget | null = null;
  private fitted: ForwardFit | null = null;

  constructor(
    /** Null once the body is released. */
    private source: RequestSource | null,
    private readonly read: (source: RequestSource) => ClientRequestParts,
    rename: (id: string) => string,
  ) {
    const parts = this.parts;
    const { scanned } = parts;
    this.api = parts.api;
    this.format = parts.traits.name;
    this.model = rename(scanned.model);
    const { fallbackModels } = scanned;
    this.fallbackModels = fallbackModels.length === 0 ? fallbackModels : fallbackModels.map(rename);
    this.preferences = scanned.preferences;
    this.preset = scanned.preset;
    this.stream = scanned.stream;
    this.maxTokens = scanned.maxTokens;
    this.answers = scanned.answers ?? 1;
    this.promptTextBytes = scanned.promptTextBytes;
    this.windowTextBytes = scanned.mayBeShortened === true ? 0 : scanned.promptTextBytes;
    this.heldBytes = heldBytesOf(scanned);
    this.session = parts.session;
    this.user = parts.user;
    this.tags = parts.tags;
    this.mayHaveMedia = scanned.prompt.mayHaveMedia;
    this.hasSchemas = scanned.prompt.hasSchemas;
    this.answering = parts.answering;
  }

  parseWhole(): Fields {
    const { bytes, text } = this.parts.scanned;
    return parseFields(bytes.toString("utf8"), text);
  }

  decodeShort(): Decoded | null {
    return this.parts.decodeShort?.() ?? null;
  }

  decodeFor(target: UpstreamTarget): Decoded | null {
    const { parts } = this;
    if (parts.decodeFor === undefined) return null;
    // What is stored of a turn can only be restored in one that was decoded.
    if (this.restoreTurns(target).length > 0) return null;
    return parts.decodeFor(target);
  }

  private get hub(): HubRequest {
    this.translation ??= new HubRequest(this.parts.client, this, this.parts.facts);
    return this.translation;
  }

  private get parts(): ClientRequestParts {
    if (this.held === null) {
      if (this.source === null) throw new Error("the request's body was released");
      this.held = this.read(this.source);
    }
    return this.held;
  }

  releaseReading(): void {
    // An answer that is translated needs some of it, and must not read the body again for that.
    this.translation = this.hub;
    this.releaseHeld();
  }

  private releaseBody(): number {
    const keptBytes = this.releaseHeld();
    this.source = null;
    return keptBytes;
  }

  private releaseHeld(): number {
    // What the charges are computed from is gone later.
    this.listCharges();
    this.held = null;
    this.conversation = null;
    this.named = null;
    this.asked = null;
    this.fitted = null;
    return this.translation?.release() ?? 0;
  }

  hashPrefix(): string {
    this.prefix ??= hashNodes(this.parts.scanned.bytes, this.parts.listPrefix());
    return this.prefix;
  }

  readCacheableShape(): CacheableShape {
    const { bytes, text, root } = this.parts.scanned;
    const marksItself = isWord(text, memberOf(memberOf(root, "prompt_cache_options"), "mode"), "explicit");
    let sharedBytes = 0;
    for (const node of this.parts.listShared()) sharedBytes += sizeOf(node);
    return {
      hasMarks: marksItself || bytes.includes(CACHE_CONTROL) || bytes.includes(BREAKPOINT),
      ...countAnswers(text, [...itemsOf(root, "messages"), ...itemsOf(root, "input")]),
      sharedBytes,
    };
  }

  hashShared(): string {
    this.shared ??= hashNodes(this.parts.scanned.bytes, this.parts.listShared());
    return this.shared;
  }

  readRetention(): RequestRetention {
    const { bytes, text, root } = this.parts.scanned;
    const cachesInMemory = isWord(text, memberOf(root, "prompt_cache_retention"), "in_memory");
    return { reference: findStoredReference(bytes), cachesInMemory };
  }

  listNeeds(): RequestNeeds {
    return this.parts.listNeeds();
  }

  viewParameters(): ParameterView {
    return viewParameters(this.format, this.parts.scanned);
  }

  formatOfTools(): ProviderFormat | null {
    return hasOwnTools(this.parts) ? this.format : null;
  }

  bindsReasoning(): boolean {
    const { bytes } = this.parts.scanned;
    return BINDING.some((name) => bytes.includes(name));
  }

  /** Computed once, because the hold and the record both need it. */
  listCharges(): RequestCharges {
    this.charges ??= this.parts.listCharges();
    return this.charges;
  }

  countPromptChars(): number {
    return countChars(this.parts.scanned.bytes, this.promptTextBytes);
  }

  listPromptText(): readonly Uint8Array[] {
    return sliceTexts(this.parts.scanned.bytes, this.parts.scanned.prompt);
  }

  listLosses(target: UpstreamTarget): readonly Warning[] {
    return this.fit(target)?.listLosses() ?? this.hub.listLosses(target);
  }

  isBestForwarded(target: UpstreamTarget, isOnly: boolean): boolean {
    const fit = isQuickToForward(this.parts.scanned) ? this.fit(target) : null;
    return fit !== null && (isOnly || weighLosses(fit.listLosses(), 0) === 0);
  }

  listTurnNames(targets: readonly UpstreamTarget[]): TurnNames | null {
    if (targets.every((target) => this.fit(target) !== null)) return null;
    return { prefix: this.sent.prefix, list: () => this.turns.list(targets) };
  }

  restoreTurns(target: UpstreamTarget): ReturnType<NamedTurns["restore"]> {
    return target.hasTurns === false ? [] : this.turns.restore(target);
  }

  private get sent(): SentConversation {
    this.conversation ??= this.parts.readConversation();
    return this.conversation;
  }

  private get turns(): NamedTurns {
    this.named ??= new NamedTurns(this.sent, this.parts.scanned.text);
    return this.named;
  }

  encode(target: UpstreamTarget): EncodedConversation {
    const fit = this.fit(target);
    if (fit === null) return this.translate(target);
    const encoded = fit.encode();
    return this.complete(encoded, this.answersFor(encoded.format, null));
  }

  offload(targets: readonly UpstreamTarget[]): OffloadedEncoding | null {
    if (isQuickToTranslate(this.parts.scanned)) return null;
    if (targets.some((target) => this.isBestForwarded(target, targets.length === 1))) return null;
    return {
      describe: () =>
        describeJob(this.parts, targets, targets[0]?.hasTurns === false ? [] : this.turns.list(targets)),
      adopt: ({ encoded, answering }) => {
        const { format, body } = encoded;
        if (answering !== null) this.hub.adopt(answering.request);
        const hub = answering === null ? null : new HubAnswers(this.hub, format, answering);
        // The parsed values are held by the other thread.
        return this.complete({ ...encoded, heldBytes: body.length }, this.answersFor(format, hub));
      },
    };
  }

  private fit(target: UpstreamTarget): ForwardFit | null {
    if (this.asked !== target) {
      this.fitted = fitForwarding(this.parts, target);
      this.asked = target;
    }
    return this.fitted;
  }

  private translate(target: UpstreamTarget): EncodedConversation {
    const encoded = this.hub.encode(target);
    const heldBytes = encoded.heldBytes + decodedBytesOf(this.parts.scanned);
    return this.complete({ ...encoded, heldBytes }, this.answersFor(encoded.format, encoded.answers));
  }

  /** `hub`: null if the client's bytes were forwarded. */
  private answersFor(format: ProviderFormat, hub: HubAnswers | null): ConversationAnswers {
    const own = format === this.format && this.answering.readsThroughHub !== true ? this.answering : null;
    return new ConversationAnswers(
      own,
      hub,
      () => new HubAnswers(this.hub, format),
      () => this.releaseBody(),
    );
  }

  private complete(encoded: EncodedBody, answers: ConversationAnswers): EncodedConversation {
    const headers = this.parts.upstreamHeaders;
    return headers === null || encoded.format !== this.format
      ? { ...encoded, answers }
      : { ...encoded, headers, answers };
  }
}

/** Reads the answer of an encoded conversation: those in the client's own format are relayed where nothing has to be changed in them. */
class ConversationAnswers implements TextAnswers {
  constructor(
    /** Null if all answers are translated. */
    private readonly own: OwnAnswers | null,
    /** Null if the client's bytes were forwarded. */
    private readonly translated: HubAnswers | null,
    private readonly openHub: () => HubAnswers,
    private readonly releaseBody: () => number,
  ) {}

  openRelay(identity: RelayIdentity, head: AnswerHead): OpenedRelay {
    const own = head.isDocument === true ? null : this.ownFor(identity);
    const relay = own?.openRelay(identity) ?? this.hub.openRelay(identity, head).relay;
    return { relay, releaseBody: this.releaseBody };
  }

  readAnswer(body: string, identity: RelayIdentity): WholeAnswer {
    const own = isEventStream(body) ? null : this.ownFor(identity);
    return own?.readAnswer(body, identity) ?? this.hub.readAnswer(body, identity);
  }

  /**
   * Returns what another thread needs to translate the answer; null if it is relayed unchanged. `readsThroughHub`: it is translated
   * although the client's bytes were forwarded.
   */
  describe(readsThroughHub: boolean): AnswerContext | null {
    return this.translated === null && !readsThroughHub ? null : this.hub.describe();
  }

  private get hub(): HubAnswers {
    return this.translated ?? this.openHub();
  }

  private ownFor({ filter = null }: RelayIdentity): OwnAnswers | null {
    return filter !== null || this.translated?.mustRestore === true ? null : this.own;
  }
}

/** Counts the answers in a conversation and the bytes after the last one. An answer may consist of several elements. */
function countAnswers(
  text: string,
  turns: readonly JsonNode[],
): Pick<CacheableShape, "answers" | "newBytes"> {
  let answers = 0;
  let newBytes = 0;
  let isInAnswer = false;
  for (const turn of turns) {
    const isOfModel = isAnswer(text, turn);
    if (isOfModel && !isInAnswer) answers += 1;
    newBytes = isOfModel ? 0 : newBytes + sizeOf(turn);
    isInAnswer = isOfModel;
  }
  return { answers, newBytes };
}

/** Whether an element of a conversation is the model's. In Responses calls have a type instead of a role. */
function isAnswer(text: string, turn: JsonNode): boolean {
  return (
    isWord(text, memberOf(turn, "role"), "assistant") ||
    lookUp(text, memberOf(turn, "type"), CALL_TYPES) === true
  );
}

const CALL_TYPES: WordTable<true> = wordTable({ function_call: true, custom_tool_call: true });

/** The ends of names of members that hold signed or encrypted reasoning, in all client APIs. Texts that contain them do no harm. */
const BINDING = ['signature"', '"encrypted_content"', '"reasoning.encrypted"', '"redacted_thinking"'];

/** Whether the request has tools that only this format has, such as those that the vendor runs. */
function hasOwnTools({ commonTools, scanned: { text, root } }: ClientRequestParts): boolean {
  if (commonTools === null) return false;
  return itemsOf(root, "tools").some((tool) => {
    const type = memberOf(tool, "type");
    return type?.kind === "string" && lookUp(text, type, commonTools) === undefined;
  });
}

function describeJob(
  { api, scanned, answering: { readsThroughHub = false } }: ClientRequestParts,
  targets: readonly UpstreamTarget[],
  names: readonly string[],
): EncodeJob {
  const data = targets.map(
    ({ provider, withReasoning, maxTokens = null, overrides, cacheMarking = null }) => ({
      provider,
      withReasoning,
      maxTokens,
      overrides,
      cacheMarking,
    }),
  );
  const turns = new Map<string, CalledTurn>();
  for (const name of names) {
    const turn = targets[0]?.recallTurn(name) ?? null;
    if (turn !== null) turns.set(name, turn);
  }
  return { api, body: new Uint8Array(scanned.bytes), targets: data, turns, readsThroughHub };
}
