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
import { createHubRequest, type Decoding } from "./hub-request.ts";
import type { AnswerContext, EncodeJob, InferenceRequest, UpstreamTarget } from "./inference-request.ts";

/** What a client API's scan tells of a request. */
interface Scanned {
  readonly bytes: Buffer;
  /** The body, its bytes read as Latin-1. */
  readonly text: string;
  readonly root: JsonNode;
  /** About how many values the body has, and of how many it is known where they stand. */
  readonly values: number;
  readonly nodes: number;
  readonly outline: readonly OutlineMessage[];
  readonly model: string;
  readonly fallbackModels: readonly string[];
  readonly preferences: ProviderPreferences;
  readonly stream: boolean;
  readonly maxTokens: number | null;
  /** Absent: one. */
  readonly answers?: number;
  readonly promptTextBytes: number;
  readonly prompt: PromptNodes;
  /** Absent: it may not. */
  readonly mayBeShortened?: boolean;
}

/** A client API: its scan of a request, its way through the hub, and its own way to an upstream of its own format. */
export interface ClientRequestParts {
  readonly api: EncodeJob["api"];
  readonly format: FormatName;
  readonly scanned: Scanned;
  readonly listNeeds: (text: string, root: JsonNode) => RequestNeeds;
  /** Types of tools that other formats have as well. Absent: all of them. */
  readonly commonTools?: WordTable<true>;
  readonly session: string | null;
  readonly user: string | null;
  /** What a conversation is known by, see `InferenceRequest.hashPrefix`. */
  readonly listPrefix: () => readonly JsonNode[];
  readonly listCharges: (text: string, root: JsonNode) => RequestCharges;
  /** Knows the operator's aliases of model ids. */
  readonly rename: (id: string) => string;
  readonly client: ClientCodec;
  readonly facts: Omit<AskedFor, "request">;
  readonly decoding: Decoding;
  /** Answers of the client's own format are translated as well. Absent: they are relayed. */
  readonly readsThroughHub?: boolean;
  /**
   * Whether the client's own bytes may go to an upstream of the same format, as far as that is the format's own matter;
   * else they go through the hub.
   */
  readonly mayForward: (target: UpstreamTarget) => boolean;
  /** What of those bytes such an upstream does not get, or gets otherwise; absent: fields that it refuses. */
  readonly listWarnings?: (target: UpstreamTarget) => readonly Warning[];
  /** What else those bytes lose that another format of the endpoint would carry. */
  readonly listOwnLosses?: (target: UpstreamTarget) => readonly Warning[];
  /** What the tool-call history among those bytes needs; absent: one that needs something goes through the hub. */
  readonly repairFor?: (rules: ToolCallRules) => Repair | null;
  /** The client's own bytes, with a few edits. */
  readonly forward: (target: UpstreamTarget, repair: Repair | null) => Buffer;
  /** Reasoning that the vendor may refuse can be among those bytes. */
  readonly mayCarryReasoning: boolean;
  readonly openRelay: (identity: RelayIdentity) => AnswerRelay;
  readonly readAnswer: (body: string, identity: RelayIdentity) => WholeAnswer;
}

/** A request of a client API that holds conversations. */
export interface ClientRequest extends InferenceRequest {
  /**
   * What the way back of the answer depends on, once it was encoded for a target. Null where the answer passes as it is.
   * `readsThroughHub`: it does not, though the client's bytes went out.
   */
  describeAnswering(readsThroughHub: boolean): AnswerContext | null;
}

/** A request of a client API. Where it meets its own format the bytes pass; everything else goes through the hub. */
export function createClientRequest(dialect: ClientRequestParts): ClientRequest {
  const { scanned, rename, format } = dialect;
  const hub = createHubRequest(dialect.client, dialect.decoding, dialect.facts);
  const listWarnings = dialect.listWarnings ?? ((target) => listRejectedFields(scanned.root, target));
  const isForwarded = (target: UpstreamTarget): boolean =>
    target.format === format && isPlain(target) && dialect.mayForward(target);
  const listForwardLosses = (target: UpstreamTarget): readonly Warning[] => [
    ...listWarnings(target),
    ...(dialect.listOwnLosses?.(target) ?? []),
  ];
  /** Whether an answer of the client's own format passes as it is. */
  const isRelayed = (upstream: FormatName): boolean =>
    upstream === format && dialect.readsThroughHub !== true && !hub.hasRenamedTools();
  /** Whether the client's bytes will go out, which is known without translating anything. */
  const passesUnchanged = (targets: readonly UpstreamTarget[]): boolean =>
    targets.some(
      (target) =>
        isForwarded(target) && (targets.length === 1 || weighLosses(listForwardLosses(target), 0) === 0),
    );
  let prefix: string | null = null;
  let charges: RequestCharges | null = null;
  /** Whether the request was last encoded without the hub. */
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
    // Asked for the hold, and again for the record.
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
          // What was parsed there is not held here.
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

/** Whether there are tools that only this format has, such as those that the vendor runs. */
function hasOwnTools({ commonTools, scanned: { text, root } }: ClientRequestParts): boolean {
  if (commonTools === undefined) return false;
  return (memberOf(root, "tools")?.items ?? []).some((tool) => {
    const type = memberOf(tool, "type");
    return type?.kind === "string" && lookUp(text, type, commonTools) === undefined;
  });
}

/** Memory that a scanned request holds beside its body. */
export function heldBytesOf({ text, nodes }: Pick<Scanned, "text" | "nodes">): number {
  return text.length + nodes * NODE_BYTES;
}

/** Memory that a decoded request holds beside what was scanned. */
function decodedBytesOf({ bytes, values }: Scanned): number {
  return bytes.length + values * VALUE_BYTES;
}

/** Memory of a value whose place is known, with what is made of it beside (measured: 120 to 130). */
const NODE_BYTES = 128;
/** The same of a value that was parsed, without its text. */
const VALUE_BYTES = 64;

/**
 * What is encoded at once: larger requests go to another thread, so that nobody else waits for them. Measured at four
 * microseconds a value and ten milliseconds a megabyte at worst. Bytes that go on as they came cost less.
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

/** The calls that turns are remembered by, see `restoreTurns`; the last ones. */
function listRecalledCalls(outline: readonly OutlineMessage[]): ReadonlySet<string> {
  const callIds = new Set<string>();
  for (let at = outline.length - 1; at >= 0 && callIds.size < MAX_RECALLED; at--) {
    const message = outline[at];
    if (message?.kind === "assistant" && message.callIds[0]) callIds.add(message.callIds[0]);
  }
  return callIds;
}

/** What texts are remembered by, the last ones: each has to be read for its name. */
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

/** Whether the provider takes the format as it is, and the request as the client put it. */
function isPlain({ withReasoning, overrides, knownFields, bodyFields }: UpstreamTarget): boolean {
  return withReasoning && overrides === null && knownFields === null && Object.keys(bodyFields).length === 0;
}
