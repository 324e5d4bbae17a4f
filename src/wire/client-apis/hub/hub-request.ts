import { asFields, type Fields } from "../../../base/json/fields.ts";
import { measureChars } from "../../../base/json/measure-chars.ts";
import { type ComposedBytes, ownBytesOf } from "../../../base/text/composed-bytes.ts";
import { collectAnswer, replayAnswer } from "../../canonical/answer/collect-answer.ts";
import { createDocumentReader, decodeBody } from "../../canonical/answer/read-document.ts";
import type { AnswerHead, RelayIdentity, WholeAnswer } from "../../canonical/answer/relay.ts";
import { createPrefixRemover } from "../../canonical/answer/remove-prefix.ts";
import { createWholeTranslation, TranslatedRelay } from "../../canonical/answer/translate-relay.ts";
import { adoptHostedCalls } from "../../canonical/fit/adopt-calls.ts";
import { askForSchema } from "../../canonical/fit/ask-for-schema.ts";
import { boundAnswer } from "../../canonical/fit/bound-answer.ts";
import { expressMarks } from "../../canonical/fit/express-marks.ts";
import { expressNatives } from "../../canonical/fit/express-natives.ts";
import { fitBlankTexts } from "../../canonical/fit/fit-blank-texts.ts";
import { fitTurns } from "../../canonical/fit/fit-turns.ts";
import { createToolRestorer, flattenTools, type RenamedTools } from "../../canonical/fit/flatten-tools.ts";
import { hideUser } from "../../canonical/fit/hide-user.ts";
import { keepOrder } from "../../canonical/fit/keep-order.ts";
import { limitCacheMarks } from "../../canonical/fit/limit-cache-marks.ts";
import { limitExtras } from "../../canonical/fit/limit-extras.ts";
import { markCaches } from "../../canonical/fit/mark-caches.ts";
import { placeMadeImages } from "../../canonical/fit/place-made-images.ts";
import { repairConversation } from "../../canonical/fit/repair-conversation.ts";
import { type EmptyTurn, type RestoredTurn, restoreTurns } from "../../canonical/fit/restore-turns.ts";
import { restrictTools } from "../../canonical/fit/restrict-tools.ts";
import { stripReasoning } from "../../canonical/fit/strip-reasoning.ts";
import type { AnswerEvent } from "../../canonical/model/answer.ts";
import type { AnswerDecoding, AnswerReader, AskedFor, ClientCodec } from "../../canonical/model/format.ts";
import { type Part, REASONING_ORIGINS } from "../../canonical/model/parts.ts";
import type { ConversationRequest } from "../../canonical/model/request.ts";
import { rejectChoice } from "../../conversation/request-profile.ts";
import { conversationFormatOf, type ProviderFormat } from "../../conversation/traits/format-name.ts";
import type { FormatTraits } from "../../conversation/traits/format-traits.ts";
import type { Warning } from "../../conversation/warning.ts";
import { UPSTREAM_CODECS } from "../../formats/codecs.ts";
import { FORMAT_TRAITS } from "../../formats/traits.ts";
import { placeThinking } from "../../openai-chat/translate/request/place-thinking.ts";
import { rejectCompactionItems } from "../../openai-responses/compaction-items.ts";
import { hoistTools } from "../../openai-responses/translate/request/hoist-tools.ts";
import { fitToProfile } from "../fit/apply-profile.ts";
import { applyProvider, LOST_REASONING, limitFields, warnOfRefused } from "../fit/apply-provider.ts";
import { fitForcedTool, NO_REASONING } from "../fit/fit-forced-tool.ts";
import { overrideParameters, warnOfOverrides } from "../fit/override-parameters.ts";
import type {
  AnswerContext,
  EncodedBody,
  OpenedRelay,
  TextAnswers,
  UpstreamTarget,
} from "../request/inference-request.ts";

/** A decoded conversation, and how a body made from it is printed. */
export interface Decoded {
  readonly request: ConversationRequest;
  /** The client's body, as it was decoded. Absent: not all of it was. */
  readonly sent?: Fields;
  /** Prints a body made from it; null where that is impossible and the request has to be decoded whole. */
  readonly print: (body: Fields) => Buffer | ComposedBytes | null;
}

/** How a request is decoded, when it is first needed. */
export interface Decoding {
  /** The client's format; absent: it is none of those of upstreams. */
  readonly format?: ProviderFormat;
  /** Parses all of the request. */
  parseWhole(): Fields;
  /** Decodes with placeholders for long texts, which is faster; null where there are none. */
  decodeShort?(): Decoded | null;
  /** Decodes only what cannot be written for this target without decoding it, which is faster still; null where nothing can. */
  decodeFor?(target: UpstreamTarget): Decoded | null;
  /** Returns what is restored for a target in the turns of the conversation, the last one first. Absent: nothing. */
  restoreTurns?(target: UpstreamTarget): readonly (RestoredTurn | EmptyTurn)[];
}

/** Translates a request between the formats of its client and its upstream. It is decoded when first needed. */
export class HubRequest {
  private decoded: Decoded | null = null;
  /** What reading an answer needs of the request; null while all of it is decoded, or none of it. */
  private kept: ConversationRequest | null = null;
  /** The last composition: the target whose losses were listed last is often the one that is sent. */
  private last: Composition | null = null;

  constructor(
    readonly client: ClientCodec,
    private readonly decoding: Decoding,
    private readonly facts: Omit<AskedFor, "request">,
  ) {}

  /** Adopts what reading an answer needs of the request, as `HubAnswers.describe` returned it in another thread. */
  adopt(kept: string): void {
    this.kept = JSON.parse(kept) as ConversationRequest;
  }

  /** Returns what reading an answer needs of the request, as JSON. */
  describeKept(): string {
    return JSON.stringify(this.client.keepForAnswer((this.known ?? this.decode()).request));
  }

  /** Releases the decoded request, except what reading an answer needs. Returns the bytes that stay held, about. */
  release(): number {
    const { known } = this;
    if (known !== null) this.kept ??= this.client.keepForAnswer(known.request);
    this.decoded = null;
    this.last = null;
    return this.kept === null ? 0 : measureChars(this.kept, Number.POSITIVE_INFINITY);
  }

  listLosses(target: UpstreamTarget): readonly Warning[] {
    const { decoded, composed } = this.compose(target);
    return [...listLostReasoning(decoded.request, target), ...composed.warnings];
  }

  /** @throws GatewayError as `RequestEncoding.encode`. */
  encode(target: UpstreamTarget): EncodedBody & { readonly answers: HubAnswers } {
    const { decoded, composed } = this.compose(target);
    const body = decoded.print(composed.body) ?? this.printWhole(target);
    const { tools: renamed, prefill, isRestricted, ...encoded } = this.compose(target).composed;
    const { repair, carriesReasoning, warnings } = encoded;
    const { format } = target.provider;
    const answers = new HubAnswers(this, format, { renamed, prefill }, isRestricted);
    return { format, body, heldBytes: ownBytesOf(body), repair, carriesReasoning, warnings, answers };
  }

  private decode(): Decoded {
    this.decoded ??= this.decoding.decodeShort?.() ?? this.decodeWhole();
    return this.decoded;
  }

  private decodeWhole(): Decoded {
    const sent = this.decoding.parseWhole();
    return { request: this.client.decodeRequest(sent), sent, print: printBody };
  }

  /** Returns what decides the form of an answer. */
  asked(): AskedFor {
    return { ...this.facts, request: this.kept ?? (this.known ?? this.decode()).request };
  }

  /** A decoding that was made. All have what reading an answer needs. */
  private get known(): Decoded | null {
    return this.decoded ?? this.last?.decoded ?? null;
  }

  private compose(target: UpstreamTarget): Composition {
    if (this.last?.target !== target) {
      const decoded = this.decoding.decodeFor?.(target) ?? this.decode();
      this.last = { target, decoded, composed: this.composeFor(decoded, target) };
    }
    return this.last;
  }

  private composeFor({ request, sent }: Decoded, target: UpstreamTarget): Composed {
    const turns = this.decoding.restoreTurns?.(target) ?? [];
    const own = this.decoding.format === target.provider.format ? sent : undefined;
    return composeFor(turns.length === 0 ? request : restoreTurns(request, turns), target, own);
  }

  /** Encodes the request without placeholders, where a body with placeholders cannot be printed. */
  private printWhole(target: UpstreamTarget): Buffer {
    const decoded = this.decodeWhole();
    this.decoded = decoded;
    this.last = { target, decoded, composed: this.composeFor(decoded, target) };
    return printBody(this.last.composed.body);
  }
}

/** What was changed in a request, and is undone in its answer. */
type AnswerChanges = Pick<AnswerContext, "renamed" | "prefill">;

const UNCHANGED: AnswerChanges = { renamed: new Map(), prefill: null };

/** Translates the answer of the upstream that a request was encoded for. */
export class HubAnswers implements TextAnswers {
  constructor(
    private readonly hub: HubRequest,
    private readonly format: ProviderFormat,
    private readonly changes: AnswerChanges = UNCHANGED,
    private readonly isRestricted = false,
  ) {}

  /** Whether the answer has to be changed: it has tools under other names or kinds, or only some of them, or repeats its beginning. */
  get mustRestore(): boolean {
    return this.isRestricted || this.changes.renamed.size > 0 || this.changes.prefill !== null;
  }

  /** Returns what another thread needs to translate the answer. */
  describe(): AnswerContext {
    return { ...this.changes, request: this.hub.describeKept() };
  }

  openRelay(identity: RelayIdentity, { isDocument = false }: AnswerHead): OpenedRelay {
    const { hub } = this;
    const reader = isDocument ? createDocumentReader(this.codec) : this.codec.createReader();
    const writer = hub.client.createWriter(identity, hub.asked());
    return { relay: new TranslatedRelay(restoreStream(reader, this.restorers()), writer, identity) };
  }

  readAnswer(body: string, identity: RelayIdentity): WholeAnswer {
    const { client: codec } = this.hub;
    const decoding = restoreAnswer(decodeBody(this.codec, body), this.restorers());
    return createWholeTranslation(decoding, { codec, identity, asked: this.hub.asked() });
  }

  private get codec() {
    return UPSTREAM_CODECS[conversationFormatOf({ format: this.format })];
  }

  /** Returns what undoes in an answer what was changed in the request. */
  private restorers(): readonly Restorer[] {
    const { renamed, prefill } = this.changes;
    const restorers: Restorer[] = [];
    if (renamed.size > 0) restorers.push(createToolRestorer(renamed));
    if (prefill !== null) restorers.push(createPrefixRemover(prefill));
    return restorers;
  }
}

function printBody(body: Fields): Buffer {
  return Buffer.from(JSON.stringify(body));
}

/** What a request is decoded to and encoded as for a target. */
interface Composition {
  readonly target: UpstreamTarget;
  readonly decoded: Decoded;
  readonly composed: Composed;
}

/** A request encoded for a target, not yet printed. */
interface Composed extends Omit<EncodedBody, "format" | "body" | "heldBytes"> {
  readonly body: Fields;
  readonly tools: RenamedTools;
  /** Whether the upstream gets only the tools that `tool_choice` allows. */
  readonly isRestricted: boolean;
  readonly prefill: string | null;
}

/** Undoes in an answer what was changed in its request. */
type Restorer = (event: AnswerEvent) => readonly AnswerEvent[];

/**
 * Encodes a request for a target: adopts calls of other formats, repairs tool calls, applies overrides, adapts the request to the
 * provider and encodes it. `own` is the client's body if it is in the target's format.
 */
function composeFor(request: ConversationRequest, target: UpstreamTarget, own: Fields | undefined): Composed {
  const { provider } = target;
  const name = conversationFormatOf(provider);
  const format = FORMAT_TRAITS[name];
  const codec = UPSTREAM_CODECS[name];
  const adopted = adoptHostedCalls(placeAddedTools(request, provider, format), name);
  const { request: repaired, repair } = repairConversation(adopted, provider.toolCalls);
  const bounded = boundAnswer(overrideParameters(repaired, target), target.maxTokens ?? null);
  const adapted = adaptRequest(bounded, target, format);
  const flat = flattenTools(adapted.request, { ...provider, format, isClients: own !== undefined });
  const { body: fields, warnings } = codec.encodeRequest(flat.request, provider.model);
  const applied = applyProvider(own === undefined ? fields : keepOrder(fields, own), provider);
  const spoken = codec.fitBody?.(applied, provider.traits) ?? { body: applied, warnings: [] };
  const limited = limitFields(spoken.body, provider.knownFields);
  const affordable = fitToProfile(limited.body, provider);
  return {
    body: affordable.body,
    repair,
    tools: flat.renamed,
    isRestricted: request.toolChoice?.kind === "allowed" && flat.request.toolChoice?.kind !== "allowed",
    prefill: codec.prefillOf?.(affordable.body, provider.traits) ?? null,
    carriesReasoning: carriesReasoning(flat.request),
    warnings: warnOfOverrides(
      [
        ...adapted.warnings,
        ...flat.warnings,
        ...warnings,
        ...warnOfRefused(Object.keys(fields), provider),
        ...spoken.warnings,
        ...limited.warnings,
        ...affordable.warnings,
      ],
      request,
      target,
    ),
  };
}

/**
 * Moves tools that were added in the middle of a conversation to the others, unless the provider knows such items.
 * @throws GatewayError as `rejectCompactionItems`.
 */
function placeAddedTools(
  request: ConversationRequest,
  provider: UpstreamTarget["provider"],
  { tools }: FormatTraits,
): ConversationRequest {
  if (tools.hasNamespaces === true && provider.takesToolNamespaces === true) return request;
  const hoisted = hoistTools(request);
  rejectCompactionItems(request);
  return hoisted;
}

/** A request after a step of its adaptation, and what that step left out or changed. */
interface AdaptedRequest {
  readonly request: ConversationRequest;
  readonly warnings: readonly Warning[];
}

/** Adapts a request to what the target's format, provider and model take. Each step gets the request of the one before. */
function adaptRequest(
  request: ConversationRequest,
  target: UpstreamTarget,
  format: FormatTraits,
): AdaptedRequest {
  const { provider } = target;
  const { model } = provider;
  const steps: readonly ((given: ConversationRequest) => AdaptedRequest)[] = [
    (given) => fitProvider(given, target),
    (given) => fitBlankTexts(given, { format, model }),
    (given) => fitTurns(given, model, FORMAT_TRAITS),
    (given) => ({ request: restrictTools(given, { ...provider, format }), warnings: [] }),
    (given) => fitForcedTool(given, model.forcedTools),
    ...(provider.takesSchemas === false ? [askForSchema] : []),
    (given) => expressTools(given, format.name),
    (given) => placeMadeImages(given, format, model.takesImages !== false),
    (given) =>
      expressMarks(
        hideUser(given, (user) => target.hashUser(user)),
        format,
        model.takesBreakpoints === true,
      ),
    (given) => limitCacheMarks(markCaches(given, format, target.cacheMarking ?? null), format),
  ];
  const warnings: Warning[] = [];
  let adapted = request;
  for (const step of steps) {
    const changed = step(adapted);
    adapted = changed.request;
    warnings.push(...changed.warnings);
  }
  return { request: adapted, warnings };
}

/** Expresses what only one format has in another. A forced tool that cannot be expressed is an error. */
function expressTools(request: ConversationRequest, format: ProviderFormat): AdaptedRequest {
  const expressed = expressNatives(request, format);
  rejectForcedTools(expressed.request, format);
  return expressed;
}

/** @throws GatewayError `invalid_request` if a tool must be called that only another format has, and that is therefore left out. */
function rejectForcedTools({ tools, toolChoice }: ConversationRequest, format: ProviderFormat): void {
  if (toolChoice?.kind !== "required" && toolChoice?.kind !== "native") return;
  const lost = tools.flatMap((tool) => (tool.kind === "native" && tool.format !== format ? [tool.type] : []));
  if (lost.length === 0) return;
  const forced = toolChoice.kind === "native" ? asFields(toolChoice.value)?.["type"] : null;
  const isForced = forced === null ? lost.length === tools.length : lost.some((type) => type === forced);
  if (isForced) rejectChoice(lost);
}

/** Removes what the provider, though not its format, would reject. */
function fitProvider(request: ConversationRequest, target: UpstreamTarget): AdaptedRequest {
  const limited = limitToKnown(request, target);
  if (!mustNotReason(limited.request, target)) return limited;
  return {
    request: { ...limited.request, reasoning: NO_REASONING },
    warnings: [...limited.warnings, NO_REASONING_WITH_TOOLS],
  };
}

function limitToKnown(
  request: ConversationRequest,
  { withReasoning, provider }: UpstreamTarget,
): AdaptedRequest {
  const { knownFields, knownMessageFields, takesThinkingParts } = provider;
  if (knownFields === null) {
    return { request: withReasoning ? request : stripReasoning(request), warnings: [] };
  }
  const thinks = withReasoning && takesThinkingParts;
  const plain = stripReasoning(thinks ? placeThinking(request) : request, thinks);
  return limitExtras(plain, { ofRequest: knownFields, ofMessages: knownMessageFields });
}

/** Whether the request has tools and may reason, but the target only supports one of the two. */
function mustNotReason({ tools, reasoning }: ConversationRequest, { provider }: UpstreamTarget): boolean {
  const isOff = reasoning?.enabled === false || reasoning?.effort === "none";
  return provider.noToolsWhileReasoning === true && tools.length > 0 && !isOff;
}

/** The warning where reasoning is switched off because of tools. */
const NO_REASONING_WITH_TOOLS: Warning = {
  field: "reasoning",
  message: "In this format, the provider accepts tools only without reasoning; reasoning was switched off.",
  isGrave: true,
};

/** Vendors that encrypt reasoning in one of their formats, which another cannot carry. */
const RESPONSES_ORIGINS: ReadonlySet<string | null> = new Set([
  REASONING_ORIGINS.openai,
  REASONING_ORIGINS.xai,
]);

/** Returns a warning if encrypted reasoning of earlier turns would be lost, because the target's format has no place for it. */
function listLostReasoning(
  { messages }: ConversationRequest,
  { provider }: UpstreamTarget,
): readonly Warning[] {
  if (!losesReasoning(provider)) return [];
  const isLost = (part: Part): boolean =>
    part.kind === "reasoning" && part.encrypted !== null && RESPONSES_ORIGINS.has(part.origin);
  return messages.some(({ parts }) => parts.some(isLost)) ? [LOST_REASONING] : [];
}

function losesReasoning({ format, takesReasoningDetails }: UpstreamTarget["provider"]): boolean {
  return FORMAT_TRAITS[format].contents.losesEncryptedReasoning === true && takesReasoningDetails !== true;
}

function carriesReasoning({ messages }: ConversationRequest): boolean {
  return messages.some(({ parts }) =>
    parts.some(
      (part) =>
        part.kind === "reasoning" ||
        (part.kind === "native" && part.type === "reasoning") ||
        ("signature" in part && part.signature !== undefined),
    ),
  );
}

function restoreAnswer(decoding: AnswerDecoding, restorers: readonly Restorer[]): AnswerDecoding {
  if (decoding.kind === "error" || restorers.length === 0) return decoding;
  return {
    kind: "answer",
    answer: collectAnswer(restoreEvents([...replayAnswer(decoding.answer)], restorers)),
  };
}

function restoreEvents(events: readonly AnswerEvent[], restorers: readonly Restorer[]): AnswerEvent[] {
  return restorers.reduce((restored, restore) => restored.flatMap(restore), [...events]);
}

function restoreStream(reader: AnswerReader, restorers: readonly Restorer[]): AnswerReader {
  if (restorers.length === 0) return reader;
  const all = (events: readonly AnswerEvent[]) => restoreEvents(events, restorers);
  return {
    step: (piece) => all(reader.step(piece)),
    end: () => all(reader.end()),
    countSoFar: () => reader.countSoFar?.() ?? null,
    ...(reader.signsTexts === undefined ? {} : { signsTexts: reader.signsTexts }),
    get isDone() {
      return reader.isDone;
    },
  };
}
