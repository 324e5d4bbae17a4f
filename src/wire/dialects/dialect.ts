import type { AskedFor, ClientCodec, Warning } from "../canonical/format.ts";
import type { FormatName } from "../canonical/parts.ts";
import type { AnswerRelay, RelayIdentity, WholeAnswer } from "../canonical/relay.ts";
import type { RequestCharges } from "../conversation/charges.ts";
import type { RequestNeeds } from "../conversation/needs.ts";
import type { Repair, ToolCallRules } from "../conversation/outline.ts";
import type { ProviderPreferences } from "../conversation/preferences.ts";
import { type PromptNodes, sliceTexts } from "../conversation/prompt-nodes.ts";
import { hashNodes } from "../json/hash-nodes.ts";
import { type JsonNode, lookUp, memberOf, type WordTable } from "../json/scan.ts";
import { nameRefused } from "./apply-provider.ts";
import { countChars } from "./count-chars.ts";
import { createHubRequest, type Decoding } from "./hub-request.ts";
import type { ClientApi, InferenceRequest, UpstreamTarget } from "./inference-request.ts";

/** What a client API's scan tells of a request. */
interface Scanned {
  readonly bytes: Buffer;
  /** The body, its bytes read as Latin-1. */
  readonly text: string;
  readonly root: JsonNode;
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
export interface Dialect {
  readonly api: ClientApi;
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

/** A request of a client API. Where it meets its own format the bytes pass; everything else goes through the hub. */
export function createDialect(dialect: Dialect): InferenceRequest {
  const { scanned, rename, format } = dialect;
  const hub = createHubRequest(dialect.client, dialect.decoding, dialect.facts);
  const listWarnings = dialect.listWarnings ?? ((target) => nameRefused(scanned.root, target));
  const isForwarded = (target: UpstreamTarget): boolean =>
    target.format === format && isPlain(target) && dialect.mayForward(target);
  /** Whether an answer of the client's own format passes as it is. */
  const isRelayed = (upstream: FormatName): boolean =>
    upstream === format && dialect.readsThroughHub !== true && !hub.hasRenamedTools();
  let prefix: string | null = null;
  let charges: RequestCharges | null = null;
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
    session: dialect.session,
    user: dialect.user,
    hashPrefix: () => (prefix ??= hashNodes(scanned.bytes, dialect.listPrefix())),
    windowTextBytes: scanned.mayBeShortened === true ? 0 : scanned.promptTextBytes,
    listNeeds: () => dialect.listNeeds(scanned.text, scanned.root),
    mayHaveMedia: scanned.prompt.mayHaveMedia,
    formatOfTools: () => (hasOwnTools(dialect) ? format : null),
    // Asked for the hold, and again for the record.
    listCharges: () => (charges ??= dialect.listCharges(scanned.text, scanned.root)),
    countPromptChars: () => countChars(scanned.text, scanned.promptTextBytes),
    listPromptText: () => sliceTexts(scanned.bytes, scanned.prompt),
    listLosses(target) {
      if (!isForwarded(target)) return hub.listLosses(target);
      return [...listWarnings(target), ...(dialect.listOwnLosses?.(target) ?? [])];
    },
    encode(target) {
      if (!isForwarded(target)) return hub.encode(target);
      hub.forgetTools();
      const repair = dialect.repairFor?.(target.toolCalls) ?? null;
      const warnings = listWarnings(target);
      const body = dialect.forward(target, repair);
      return { body, repair, carriesReasoning: dialect.mayCarryReasoning, warnings };
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
function hasOwnTools({ commonTools, scanned: { text, root } }: Dialect): boolean {
  if (commonTools === undefined) return false;
  return (memberOf(root, "tools")?.items ?? []).some((tool) => {
    const type = memberOf(tool, "type");
    return type?.kind === "string" && lookUp(text, type, commonTools) === undefined;
  });
}

/** Whether the provider takes the format as it is, and the request as the client put it. */
function isPlain({ withReasoning, steer, knownFields, bodyFields }: UpstreamTarget): boolean {
  return withReasoning && steer === null && knownFields === null && Object.keys(bodyFields).length === 0;
}
