import { adoptHostedCalls } from "../canonical/adopt-calls.ts";
import type { AnswerEvent } from "../canonical/answer.ts";
import { boundAnswer } from "../canonical/bound-answer.ts";
import { restoreTurns } from "../canonical/called-turn.ts";
import { collectAnswer, replayAnswer } from "../canonical/collect-answer.ts";
import { expressNatives } from "../canonical/express-natives.ts";
import { createToolRestorer, type FlatRequest, flattenTools } from "../canonical/flatten-tools.ts";
import type { AnswerDecoding, AnswerReader, AskedFor, ClientCodec, Warning } from "../canonical/format.ts";
import { hideUser } from "../canonical/hide-user.ts";
import { limitExtras } from "../canonical/limit-extras.ts";
import type { FormatName } from "../canonical/parts.ts";
import { placeMadeImages } from "../canonical/place-made-images.ts";
import { createDocumentReader } from "../canonical/read-document.ts";
import { repairConversation } from "../canonical/repair-conversation.ts";
import type { ConversationRequest } from "../canonical/request.ts";
import { stripReasoning } from "../canonical/strip-reasoning.ts";
import { createTranslation, createWholeTranslation } from "../canonical/translate-relay.ts";
import { brokenAnswer } from "../conversation/vendor-error.ts";
import { type Fields, tryParseFields } from "../json/fields.ts";
import { applyProvider, limitFields } from "./apply-provider.ts";
import type { EncodedForUpstream, InferenceRequest, UpstreamTarget } from "./inference-request.ts";
import { steerRequest, warnOfSteering } from "./steer-request.ts";
import { UPSTREAM_CODECS } from "./upstream-codecs.ts";

/** A request on its way through the hub, in whichever format it came and goes out. */
export interface HubRequest extends Pick<InferenceRequest, "encode" | "openRelay" | "readAnswer"> {
  /** Whether the target that it was last encoded for knows tools by other names or kinds than the client. */
  hasRenamedTools(): boolean;
  /** The request went to its target without the hub. */
  forgetTools(): void;
}

/** A conversation as a client's format reads it, and how what is made of it is printed. */
export interface Decoded {
  readonly request: ConversationRequest;
  /**
   * Null where it cannot be printed: then it has to be decoded otherwise. `mayOverwrite`: the client's bytes are not needed
   * any more.
   */
  readonly print: (body: Fields, mayOverwrite: boolean) => Buffer | null;
}

/** How a request is decoded. */
export interface Decoding {
  /** The whole of it. */
  whole(): ConversationRequest;
  /** The same at a lower price, with long texts set aside that the format's writers do not look at; null where none are. */
  short?(): Decoded | null;
}

type RenamedTools = FlatRequest["renamed"];

/**
 * A request that a client's format has decoded, or decodes when it is first needed. It is encoded for a target before
 * that target's answer is read: the way back depends on it.
 */
export function createHubRequest(
  client: ClientCodec,
  decoding: Decoding,
  facts: Omit<AskedFor, "request">,
): HubRequest {
  const decodeWhole = (): Decoded => ({ request: decoding.whole(), print: printBody });
  let decoded: Decoded | null = null;
  const decode = (): Decoded => (decoded ??= decoding.short?.() ?? decodeWhole());
  const asked = (): AskedFor => ({ ...facts, request: decode().request });
  let renamed: RenamedTools = NONE_RENAMED;
  return {
    hasRenamedTools: () => renamed.size > 0,
    forgetTools() {
      renamed = NONE_RENAMED;
    },
    encode(target) {
      let made = encodeConversation(decode(), target);
      if (made === null) {
        decoded = decodeWhole();
        made = encodeConversation(decoded, target);
      }
      if (made === null) throw new Error("a request that cannot be printed");
      renamed = made.tools;
      return made.encoded;
    },
    openRelay(format, identity, isDocument = false) {
      const codec = UPSTREAM_CODECS[format];
      const reader = isDocument ? createDocumentReader(codec) : codec.createReader();
      const writer = client.createWriter(identity, asked());
      return createTranslation(restoreTools(reader, renamed), writer, identity);
    },
    readAnswer(format, body, identity) {
      const decoding = restoreAnswer(decodeAnswer(format, body), renamed);
      return createWholeTranslation(decoding, client, identity, asked());
    },
  };
}

const NONE_RENAMED: RenamedTools = new Map();

function printBody(body: Fields): Buffer {
  return Buffer.from(JSON.stringify(body));
}

/**
 * Restores what the client dropped, adopts calls of other formats, repairs the calls, steers the request, makes it fit
 * the target and encodes it. Null where it cannot be printed.
 */
function encodeConversation(
  { request, print }: Decoded,
  target: UpstreamTarget,
): { readonly encoded: EncodedForUpstream; readonly tools: RenamedTools } | null {
  const restored = restoreTurns(request, target.recallTurn, target.format === "gemini");
  const adopted = adoptHostedCalls(restored, target.format);
  const { request: repaired, repair } = repairConversation(adopted, target.toolCalls);
  const bounded = boundAnswer(steerRequest(repaired, target), target.maxTokens ?? null);
  const fitted = fitProvider(bounded, target);
  const expressed = expressNatives(fitted.request, target.format);
  const placed = placeMadeImages(expressed.request, target.format, target.model.takesImages !== false);
  const flat = flattenTools(hideUser(placed.request, target.hashUser), target);
  const { body: fields, warnings } = UPSTREAM_CODECS[target.format].encodeRequest(flat.request, target.model);
  const limited = limitFields(applyProvider(fields, target), target.knownFields);
  const body = print(limited.body, target.isLast);
  if (body === null) return null;
  return {
    tools: flat.renamed,
    encoded: {
      body,
      repair,
      carriesReasoning: carriesReasoning(flat.request),
      warnings: warnOfSteering(
        [
          ...fitted.warnings,
          ...expressed.warnings,
          ...placed.warnings,
          ...flat.warnings,
          ...warnings,
          ...limited.warnings,
        ],
        target,
      ),
    },
  };
}

/** Takes away what the provider, not its format, would refuse. */
function fitProvider(
  request: ConversationRequest,
  { knownFields, knownMessageFields, takesThinkingParts, withReasoning }: UpstreamTarget,
): { readonly request: ConversationRequest; readonly warnings: readonly Warning[] } {
  if (knownFields === null) {
    return { request: withReasoning ? request : stripReasoning(request), warnings: [] };
  }
  const plain = stripReasoning(request, withReasoning && takesThinkingParts);
  return limitExtras(plain, { ofRequest: knownFields, ofMessages: knownMessageFields });
}

function carriesReasoning({ messages }: ConversationRequest): boolean {
  return messages.some(({ parts }) =>
    parts.some((part) => part.kind === "reasoning" || ("signature" in part && part.signature !== undefined)),
  );
}

function decodeAnswer(format: FormatName, body: string): AnswerDecoding {
  const fields = tryParseFields(body);
  if (fields === null) return { kind: "error", error: brokenAnswer("the upstream's answer is not JSON") };
  try {
    return UPSTREAM_CODECS[format].decodeAnswer(fields);
  } catch {
    return { kind: "error", error: brokenAnswer("the upstream's answer cannot be read") };
  }
}

function restoreAnswer(decoding: AnswerDecoding, renamed: RenamedTools): AnswerDecoding {
  if (decoding.kind === "error" || renamed.size === 0) return decoding;
  const restore = createToolRestorer(renamed);
  return { kind: "answer", answer: collectAnswer([...replayAnswer(decoding.answer)].flatMap(restore)) };
}

function restoreTools(reader: AnswerReader, renamed: RenamedTools): AnswerReader {
  if (renamed.size === 0) return reader;
  const restore = createToolRestorer(renamed);
  const all = (events: readonly AnswerEvent[]): AnswerEvent[] => events.flatMap(restore);
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
