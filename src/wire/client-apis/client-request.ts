import { type CalledTurn, MAX_RECALLED, nameText } from "../canonical/called-turn.ts";
import type { AskedFor, ClientCodec } from "../canonical/format.ts";
import type { AnswerRelay, RelayIdentity, WholeAnswer } from "../canonical/relay.ts";
import type { RequestCharges } from "../conversation/charges.ts";
import type { FormatName } from "../conversation/format-name.ts";
import type { RequestNeeds } from "../conversation/needs.ts";
import type { OutlineMessage, Repair, ToolCallRules } from "../conversation/outline.ts";
import type { ProviderPreferences } from "../conversation/preferences.ts";
import { type PromptNodes, sizeOf, sliceTexts } from "../conversation/prompt-nodes.ts";
import type { Warning } from "../conversation/warning.ts";
import { hashNodes } from "../json/hash-nodes.ts";
import { type JsonNode, lookUp, memberOf, tryStringOf, type WordTable } from "../json/scan.ts";
import { listRejectedFields } from "./apply-provider.ts";
import { weighLosses } from "./choose-target.ts";
import { countChars } from "./count-chars.ts";
import { type Decoding, HubRequest } from "./hub-request.ts";
import type { AnswerContext, EncodeJob, InferenceRequest, UpstreamTarget } from "./inference-request.ts";

/** What the scan of a client API finds in a request. */
interface Scanned {
  readonly bytes: Buffer;
  /** The body as a Latin-1 string. */
  readonly text: string;
  readonly root: JsonNode;
  /** The approximate number of values in the body, and how many of them have nodes. */
  readonly values: number;
  readonly nodes: number;
  readonly outline: readonly OutlineMessage[];
  readonly model: string;
  readonly fallbackModels: readonly string[];
  readonly preferences: ProviderPreferences;
  readonly stream: boolean;
  readonly maxTokens: number | null;
  /** Absent: 1. */
  readonly answers?: number;
  readonly promptTextBytes: number;
  readonly prompt: PromptNodes;
  /** Absent: false. */
  readonly mayBeShortened?: boolean;
}

/**
 * The functions of one client API: scanning a request, forwarding it to an upstream of its own format, and translating it to
 * others.
 */
export interface ClientRequestParts {
  readonly api: EncodeJob["api"];
  readonly format: FormatName;
  readonly scanned: Scanned;
  readonly listNeeds: (text: string, root: JsonNode) => RequestNeeds;
  /** Types of tools that other formats have as well. Absent: all. */
  readonly commonTools?: WordTable<true>;
  readonly session: string | null;
  readonly user: string | null;
  /** Lists the prefix that identifies a conversation, see `InferenceRequest.hashPrefix`. */
  readonly listPrefix: () => readonly JsonNode[];
  readonly listCharges: (text: string, root: JsonNode) => RequestCharges;
  /** Resolves the operator's aliases of model ids. */
  readonly rename: (id: string) => string;
  readonly client: ClientCodec;
  readonly facts: Omit<AskedFor, "request">;
  readonly decoding: Decoding;
  /** Answers in the client's own format are translated too. Absent: they are relayed. */
  readonly readsThroughHub?: boolean;
  /**
   * Whether the client's bytes may be forwarded to an upstream of the same format, as far as the format decides that; otherwise the
   * request is translated.
   */
  readonly mayForward: (target: UpstreamTarget) => boolean;
  /** Warnings for fields that such an upstream does not get, or gets changed. Absent: the fields that it rejects. */
  readonly listWarnings?: (target: UpstreamTarget) => readonly Warning[];
  /** Further losses of forwarded bytes that another format of the endpoint would avoid. */
  readonly listOwnLosses?: (target: UpstreamTarget) => readonly Warning[];
  /** Returns the repair of the tool calls in those bytes. Absent: a request that needs repair is translated. */
  readonly repairFor?: (rules: ToolCallRules) => Repair | null;
  /** Returns the client's bytes with a few edits. */
  readonly forward: (target: UpstreamTarget, repair: Repair | null) => Buffer;
  /** Forwarded bytes may hold reasoning that the vendor rejects. */
  readonly mayCarryReasoning: boolean;
  readonly openRelay: (identity: RelayIdentity) => AnswerRelay;
  readonly readAnswer: (body: string, identity: RelayIdentity) => WholeAnswer;
}

/** A parsed request of a client API for conversations. */
export interface ClientRequest extends InferenceRequest {
  /**
   * Returns what is needed to translate the answer, after the request was encoded for a target; null if the answer is relayed
   * unchanged. `readsThroughHub`: the answer is translated although the client's bytes were forwarded.
   */
  describeAnswering(readsThroughHub: boolean): AnswerContext | null;
}

/** Creates a request of a client API. It is forwarded to upstreams of its own format and translated for all others. */
export function createClientRequest(dialect: ClientRequestParts): ClientRequest {
  const { scanned, rename, format } = dialect;
  const hub = new HubRequest(dialect.client, dialect.decoding, dialect.facts);
  const listWarnings = dialect.listWarnings ?? ((target) => listRejectedFields(scanned.root, target));
  const isForwarded = (target: UpstreamTarget): boolean =>
    target.format === format && isPlain(target) && dialect.mayForward(target);
  const listForwardLosses = (target: UpstreamTarget): readonly Warning[] => [
    ...listWarnings(target),
    ...(dialect.listOwnLosses?.(target) ?? []),
  ];
  /** Whether an answer in the client's own format is relayed unchanged. */
  const isRelayed = (upstream: FormatName): boolean =>
    upstream === format && dialect.readsThroughHub !== true && !hub.hasRenamedTools;
  /** Whether the client's bytes will be forwarded, which is known without translating anything. */
  const passesUnchanged = (targets: readonly UpstreamTarget[]): boolean =>
    targets.some(
      (target) =>
        isForwarded(target) && (targets.length === 1 || weighLosses(listForwardLosses(target), 0) === 0),
    );
  let prefix: string | null = null;
  let charges: RequestCharges | null = null;
  /** Whether the last encoding forwarded the client's bytes. */
  let wasForwarded = false;
  return {
    api: dialect.api,
    format,
    action: "chat",
    model: rename(scanned.model),
    fallbackModels: scanned.fallbackModels.map(rename),
    preferences: scanned.preferences,
    stream: scanned.stream,
    maxTokens: scanned.maxTokens,
    answers: scanned.answers ?? 1,
    notice: null,
    promptTextBytes: scanned.promptTextBytes,
    heldBytes: heldBytesOf(scanned),
    session: dialect.session,
    user: dialect.user,
    hashPrefix: () => (prefix ??= hashNodes(scanned.bytes, dialect.listPrefix())),
    windowTextBytes: scanned.mayBeShortened === true ? 0 : scanned.promptTextBytes,
    listNeeds: () => dialect.listNeeds(scanned.text, scanned.root),
    mayHaveMedia: scanned.prompt.mayHaveMedia,
    formatOfTools: () => (hasOwnTools(dialect) ? format : null),
    // Needed for the hold and again for the record.
    listCharges: () => (charges ??= dialect.listCharges(scanned.text, scanned.root)),
    countPromptChars: () => countChars(scanned.bytes, scanned.promptTextBytes),
    listPromptText: () => sliceTexts(scanned.bytes, scanned.prompt),
    listLosses: (target) => (isForwarded(target) ? listForwardLosses(target) : hub.listLosses(target)),
    listTurnNames: (targets) => (targets.every(isForwarded) ? [] : listTurnNames(scanned, targets)),
    encode(target) {
      wasForwarded = isForwarded(target);
      if (!wasForwarded) {
        const encoded = hub.encode(target);
        return { ...encoded, heldBytes: encoded.heldBytes + decodedBytesOf(scanned) };
      }
      hub.forgetTools();
      const repair = dialect.repairFor?.(target.toolCalls) ?? null;
      const warnings = listWarnings(target);
      const body = dialect.forward(target, repair);
      const heldBytes = body.buffer === scanned.bytes.buffer ? 0 : body.length;
      return { body, heldBytes, repair, carriesReasoning: dialect.mayCarryReasoning, warnings };
    },
    describeAnswering: (readsThroughHub) =>
      wasForwarded && !readsThroughHub ? null : hub.describeAnswering(),
    encodeApart(targets) {
      if (!exceeds(scanned, AT_ONCE.translated)) return null;
      if (passesUnchanged(targets) && !exceeds(scanned, AT_ONCE.forwarded)) return null;
      return {
        describe: () => describeJob(dialect, targets),
        adopt({ encoded, answering }) {
          if (answering === null) hub.forgetTools();
          else hub.adopt(answering);
          // The parsed values are held by the other thread.
          return { ...encoded, heldBytes: encoded.body.length };
        },
      };
    },
    openRelay: (upstream, identity, isDocument = false) =>
      isRelayed(upstream) && !isDocument
        ? dialect.openRelay(identity)
        : hub.openRelay(upstream, identity, isDocument),
    readAnswer: (upstream, body, identity) =>
      isRelayed(upstream) ? dialect.readAnswer(body, identity) : hub.readAnswer(upstream, body, identity),
  };
}

/** Whether the request has tools that only this format has, such as those that the vendor runs. */
function hasOwnTools({ commonTools, scanned: { text, root } }: ClientRequestParts): boolean {
  if (commonTools === undefined) return false;
  return (memberOf(root, "tools")?.items ?? []).some((tool) => {
    const type = memberOf(tool, "type");
    return type?.kind === "string" && lookUp(text, type, commonTools) === undefined;
  });
}

/** Returns the approximate memory of a scanned request besides its body, in bytes. */
export function heldBytesOf({ text, nodes }: Pick<Scanned, "text" | "nodes">): number {
  return text.length + nodes * NODE_BYTES;
}

/** Returns the approximate memory of a decoded request besides the scanned one, in bytes. */
function decodedBytesOf({ bytes, values }: Scanned): number {
  return bytes.length + values * VALUE_BYTES;
}

/** Memory per value with a node (measured: 120 to 130 bytes). */
const NODE_BYTES = 128;
/** Memory per parsed value without its text, in bytes. */
const VALUE_BYTES = 64;

/**
 * The largest requests that are encoded on this thread; larger ones go to another thread, so that they do not block other requests.
 * Measured: at most 4 µs per value and 10 ms per megabyte. Forwarding costs less.
 */
const AT_ONCE = {
  translated: { bytes: 2 * 1024 * 1024, values: 6_000 },
  forwarded: { bytes: Number.POSITIVE_INFINITY, values: 20_000 },
} as const;

function exceeds(
  { bytes, values }: Scanned,
  most: { readonly bytes: number; readonly values: number },
): boolean {
  return bytes.length > most.bytes || values > most.values;
}

function describeJob(
  { api, scanned, readsThroughHub = false }: ClientRequestParts,
  targets: readonly UpstreamTarget[],
): EncodeJob {
  const turns = new Map<string, CalledTurn>();
  const [first] = targets;
  for (const name of listTurnNames(scanned, targets)) {
    const turn = first?.recallTurn(name) ?? null;
    if (turn !== null) turns.set(name, turn);
  }
  const data = targets.map(({ recallTurn: _, hashUser: __, ...rest }) => rest);
  return { api, body: new Uint8Array(scanned.bytes), targets: data, turns, readsThroughHub };
}

function listTurnNames(scanned: Scanned, targets: readonly UpstreamTarget[]): readonly string[] {
  const signsTexts = targets.some(({ format }) => format === "gemini");
  return [...listRecalledCalls(scanned.outline), ...(signsTexts ? listRecalledTexts(scanned) : [])];
}

/** Lists the first calls of the last turns, under which turns are stored (see `restoreTurns`). */
function listRecalledCalls(outline: readonly OutlineMessage[]): ReadonlySet<string> {
  const callIds = new Set<string>();
  for (let at = outline.length - 1; at >= 0 && callIds.size < MAX_RECALLED; at--) {
    const message = outline[at];
    if (message?.kind === "assistant" && message.callIds[0]) callIds.add(message.callIds[0]);
  }
  return callIds;
}

/** Lists the keys under which the last texts are stored; computing a key reads the whole text. */
function listRecalledTexts({ text, prompt: { texts } }: Scanned): readonly string[] {
  const names: string[] = [];
  let left = MAX_RECALLED_BYTES;
  for (let at = texts.length - 1; at >= 0 && names.length < MAX_RECALLED; at--) {
    const node = texts[at] as JsonNode;
    left -= sizeOf(node);
    if (left < 0) break;
    const said = tryStringOf(text, node);
    if (said) names.push(nameText(said));
  }
  return names;
}

const MAX_RECALLED_BYTES = 2 * 1024 * 1024;

/** Whether the provider accepts the plain format, and the request is sent as the client wrote it. */
function isPlain({ withReasoning, overrides, knownFields, bodyFields }: UpstreamTarget): boolean {
  return withReasoning && overrides === null && knownFields === null && Object.keys(bodyFields).length === 0;
}
