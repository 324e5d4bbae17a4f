import type { CalledTurn } from "../../canonical/answer/called-turn.ts";
import { isEventStream } from "../../canonical/answer/read-document.ts";
import type { AnswerHead, RelayIdentity, WholeAnswer } from "../../canonical/answer/relay.ts";
import type { ProviderFormat } from "../../conversation/traits/format-name.ts";
import type { Warning } from "../../conversation/warning.ts";
import { chooseTarget, recallNothing, weighLosses } from "../request/choose-target.ts";
import type {
  AnswerContext,
  EncodedBody,
  EncodedForUpstream,
  EncodeJob,
  EncodingPlan,
  OffloadedEncoding,
  OpenedRelay,
  RequestEncoding,
  TextAnswers,
  TurnNames,
  UpstreamTarget,
} from "../request/inference-request.ts";
import { decodedBytesOf, isQuickToForward, isQuickToTranslate } from "../request/request-size.ts";
import type { ClientRequestParts, ConversationReading, OwnAnswers } from "./conversation-reading.ts";
import { HubAnswers } from "./hub-request.ts";

interface EncodedConversation extends EncodedForUpstream {
  readonly answers: ConversationAnswers;
}

/** Encodes a conversation: its bytes are forwarded where the target takes them, and translated elsewhere. */
export class ConversationEncoding implements RequestEncoding {
  constructor(private readonly reading: ConversationReading) {}

  get format(): ProviderFormat {
    return this.reading.format;
  }

  plan(targets: readonly UpstreamTarget[]): EncodingPlan<EncodedConversation> {
    const forwarded = this.chooseForwarded(targets);
    if (forwarded !== null)
      return { nameTurns: recallNothing, offloaded: null, encode: () => this.encode(forwarded) };
    return {
      nameTurns: () => this.nameTurns(targets),
      offloaded: this.offload(targets),
      encode: () => this.encode(chooseTarget(this, targets)),
    };
  }

  encode(target: UpstreamTarget): EncodedConversation {
    const fit = this.reading.fit(target);
    return fit === null ? this.translate(target) : this.complete(fit.encode(), null);
  }

  /**
   * Returns what `encode` would leave out for a target; has no effect.
   * @throws GatewayError as `encode`.
   */
  listLosses(target: UpstreamTarget): readonly Warning[] {
    return this.reading.fit(target)?.listLosses() ?? this.reading.hub.listLosses(target);
  }

  /**
   * Returns the target that the client's bytes are forwarded to, if that is quick, and loses nothing that another target might keep. Null
   * otherwise.
   * @throws GatewayError `invalid_request` if its own format cannot express the request.
   */
  private chooseForwarded(targets: readonly UpstreamTarget[]): UpstreamTarget | null {
    if (!isQuickToForward(this.reading.parts.scanned)) return null;
    for (const target of targets) {
      const fit = this.reading.fit(target);
      if (fit !== null && (targets.length === 1 || weighLosses(fit.listLosses(), 0) === 0)) return target;
    }
    return null;
  }

  private nameTurns(targets: readonly UpstreamTarget[]): TurnNames | null {
    const { reading } = this;
    if (targets.every((target) => reading.fit(target) !== null)) return null;
    return { prefix: reading.sent.prefix, list: () => reading.turns.list(targets) };
  }

  private offload(targets: readonly UpstreamTarget[]): OffloadedEncoding | null {
    const { reading } = this;
    if (isQuickToTranslate(reading.parts.scanned)) return null;
    return {
      describe: () =>
        describeJob(
          reading.parts,
          targets,
          targets[0]?.hasTurns === false ? [] : reading.turns.list(targets),
        ),
      adopt: ({ encoded, answering }) => {
        const { hub } = reading;
        if (answering !== null) hub.adopt(answering.request);
        const translated = answering === null ? null : new HubAnswers(hub, encoded.format, answering);
        // The parsed values are held by the other thread.
        return this.complete({ ...encoded, heldBytes: encoded.body.length }, translated);
      },
    };
  }

  private translate(target: UpstreamTarget): EncodedConversation {
    const { hub, parts } = this.reading;
    const { answers, ...encoded } = hub.encode(target);
    const heldBytes = encoded.heldBytes + decodedBytesOf(parts.scanned);
    return this.complete({ ...encoded, heldBytes }, answers);
  }

  /** `translated`: null if the client's bytes are forwarded. */
  private complete(encoded: EncodedBody, translated: HubAnswers | null): EncodedConversation {
    const { reading } = this;
    const answers = new ConversationAnswers(reading, encoded.format, translated);
    const headers = reading.parts.upstreamHeaders;
    return headers === null || encoded.format !== reading.format
      ? { ...encoded, answers }
      : { ...encoded, headers, answers };
  }
}

/** Reads the answer of an encoded conversation: those in the client's own format are relayed where nothing has to be changed in them. */
class ConversationAnswers implements TextAnswers {
  constructor(
    private readonly reading: ConversationReading,
    private readonly format: ProviderFormat,
    /** Null if the client's bytes were forwarded. */
    private readonly translated: HubAnswers | null,
  ) {}

  openRelay(identity: RelayIdentity, head: AnswerHead): OpenedRelay {
    const own = head.isDocument ? null : this.ownFor(identity);
    const relay = own?.openRelay(identity) ?? this.hub.openRelay(identity, head).relay;
    return { relay, releaseBody: () => this.reading.releaseBody() };
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
    return this.translated ?? new HubAnswers(this.reading.hub, this.format);
  }

  /** Returns what relays the answer; null if it is translated. */
  private ownFor({ filter = null }: RelayIdentity): OwnAnswers | null {
    const { format, answering } = this.reading;
    if (this.format !== format || answering.readsThroughHub === true) return null;
    return filter !== null || this.translated?.mustRestore === true ? null : answering;
  }
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
