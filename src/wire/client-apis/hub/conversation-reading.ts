import { parseFields } from "../../../base/json/check-fields.ts";
import type { Fields } from "../../../base/json/fields.ts";
import { itemsOf, type JsonNode, lookUp, memberOf, type WordTable } from "../../../base/json/scan.ts";
import type { AnswerRelay, RelayIdentity, WholeAnswer } from "../../canonical/answer/relay.ts";
import type { AskedFor, ClientCodec } from "../../canonical/model/format.ts";
import type { RequestCharges } from "../../conversation/charges.ts";
import type { RequestNeeds } from "../../conversation/needs.ts";
import type { ParameterView } from "../../conversation/parameter-rules.ts";
import type { ScannedRequest } from "../../conversation/scanned-request.ts";
import type { SentConversation } from "../../conversation/sent-turns.ts";
import type { ProviderFormat } from "../../conversation/traits/format-name.ts";
import { viewParameters } from "../fit/fit-parameters.ts";
import type {
  EncodeJob,
  ReadingMemory,
  RequestDemands,
  RequestState,
  UpstreamTarget,
} from "../request/inference-request.ts";
import { heldBytesOf } from "../request/request-size.ts";
import type { ReadHeader } from "../request/session-hints.ts";
import { type ForwardFit, type Forwarding, fitForwarding } from "./forward-fit.ts";
import { type Decoded, type Decoding, HubRequest } from "./hub-request.ts";
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
  /** Lists the prefix that identifies a conversation, see `RequestPrompt.hashPrefix`. */
  listPrefix(): readonly JsonNode[];
  listCharges(): RequestCharges;
  /** See `InferenceRequest.readState`. */
  readState?(): RequestState;
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

/** The body of a request, and the client's headers. */
export interface RequestSource {
  readonly bytes: Buffer;
  readonly headers: ReadHeader;
}

/**
 * What was read from the body of a conversation, and what follows from it. It can be released, and is read again when it is needed, until
 * the body is released too.
 */
export class ConversationReading implements Decoding, RequestDemands, ReadingMemory {
  readonly format: ProviderFormat;
  readonly answering: OwnAnswers;
  readonly heldBytes: number;
  /** Null while it is released. */
  private held: ClientRequestParts | null = null;
  /** Created by the first translation; most requests need none. */
  private translation: HubRequest | null = null;
  /** Null before they are read. */
  private conversation: SentConversation | null = null;
  private named: NamedTurns | null = null;
  private charges: RequestCharges | null = null;
  /** The target that was asked about last, and how the client's bytes are forwarded to it; null where they are not. */
  private asked: UpstreamTarget | null = null;
  private fitted: ForwardFit | null = null;

  constructor(
    /** Null once the body is released. */
    private source: RequestSource | null,
    private readonly read: (source: RequestSource) => ClientRequestParts,
  ) {
    const { parts } = this;
    this.format = parts.traits.name;
    this.answering = parts.answering;
    this.heldBytes = heldBytesOf(parts.scanned);
  }

  get parts(): ClientRequestParts {
    if (this.held === null) {
      if (this.source === null) throw new Error("the request's body was released");
      this.held = this.read(this.source);
    }
    return this.held;
  }

  get hub(): HubRequest {
    this.translation ??= new HubRequest(this.parts.client, this, this.parts.facts);
    return this.translation;
  }

  /** Returns how the client's bytes are forwarded to a target; null where they are not. */
  fit(target: UpstreamTarget): ForwardFit | null {
    if (this.asked !== target) {
      this.fitted = fitForwarding(this.parts, target);
      this.asked = target;
    }
    return this.fitted;
  }

  get sent(): SentConversation {
    this.conversation ??= this.parts.readConversation();
    return this.conversation;
  }

  get turns(): NamedTurns {
    this.named ??= new NamedTurns(this.sent, this.parts.scanned.text);
    return this.named;
  }

  /** Computed once, because the hold and the record both need it. */
  listCharges(): RequestCharges {
    this.charges ??= this.parts.listCharges();
    return this.charges;
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

  restoreTurns(target: UpstreamTarget): ReturnType<NamedTurns["restore"]> {
    return target.hasTurns === false ? [] : this.turns.restore(target);
  }

  releaseReading(): void {
    // An answer that is translated needs some of it, and must not read the body again for that.
    this.translation = this.hub;
    this.releaseHeld();
  }

  /** Releases the body too: from then on only the answer can be read, whose relay must be open. Returns the bytes that stay held. */
  releaseBody(): number {
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
}

/** Whether the request has tools that only this format has, such as those that the vendor runs. */
function hasOwnTools({ commonTools, scanned: { text, root } }: ClientRequestParts): boolean {
  if (commonTools === null) return false;
  return itemsOf(root, "tools").some((tool) => {
    const type = memberOf(tool, "type");
    return type?.kind === "string" && lookUp(text, type, commonTools) === undefined;
  });
}
