import { asFields, assignFields, type Fields, omit } from "../../../../base/json/fields.ts";
import type { AnswerEvent, Finish } from "../../../canonical/model/answer.ts";
import type {
  AnswerEnd,
  AnswerIdentity,
  AnswerWriter,
  AskedFor,
  StreamError,
} from "../../../canonical/model/format.ts";
import { correctAnthropicTier } from "../../../canonical/model/service-tiers.ts";
import { NO_TOKENS, type TokenUsage } from "../../../conversation/usage.ts";
import type { Warning } from "../../../conversation/warning.ts";
import { encodeStopReason } from "../../finish-reason.ts";
import { encodeEvent, encodeStreamError } from "../../stream-events.ts";
import { encodeCounters, encodeUsage } from "../../usage.ts";
import { isOwn, keptFields } from "../parts/extras.ts";
import { type PartEvent, PartInterleaver } from "./interleave-parts.ts";
import { BlockWriter } from "./write-blocks.ts";

/** Returns a writer of this format's streams. The API has one choice, so it is the first. */
export function createWriter(identity: AnswerIdentity, asked: AskedFor): AnswerWriter {
  return new MessageWriter(identity, asked);
}

/** Fields of the answer that belong into `delta`; all others are next to it. */
const DELTA_FIELDS: ReadonlySet<string> = new Set(["container"]);

const LATE_SIGNATURE: Warning = {
  field: "content",
  message:
    "The provider signed the text after its end, where a Messages stream cannot carry a signature, and the gateway does not remember this turn: the model will not get the signature back.",
};

class MessageWriter implements AnswerWriter {
  private readonly blocks = new BlockWriter(() => this.encodeStart());
  private readonly parts = new PartInterleaver(this.blocks);
  private hasCalls = false;
  private finish: Finish = { reason: "stop", native: "", stopSequence: null };
  private finishFields: Fields = {};
  private isOwnFinish = false;
  /** The answer's fields that only this format has, and those of them that were sent already. */
  private readonly extras: Record<string, unknown> = {};
  private sentExtras: Fields = {};
  private usage: TokenUsage | null = null;
  private serviceTier: string | null = null;

  constructor(
    private readonly identity: AnswerIdentity,
    private readonly asked: AskedFor,
  ) {}

  step(event: AnswerEvent): string {
    switch (event.kind) {
      case "part-start":
      case "part-delta":
      case "part-end":
        return event.choice === 0 ? this.stepPart(event) : "";
      case "finish":
        if (event.choice === 0) this.holdFinish(event);
        return "";
      case "usage":
        this.usage = event.usage;
        return "";
      case "service-tier":
        this.serviceTier = event.tier;
        return "";
      case "extras":
        assignFields(this.extras, keptFields(event));
        return "";
      default:
        return "";
    }
  }

  listForgotten(): readonly Warning[] {
    return this.blocks.hasUnsent ? [LATE_SIGNATURE] : [];
  }

  end({ report, metadata }: AnswerEnd): string {
    const out = this.blocks.start() + this.parts.end();
    const { usage: raw, ...extras } = this.extras;
    const sent = new Set(Object.keys(extras).filter((name) => extras[name] === this.sentExtras[name]));
    const unsent = omit(extras, sent);
    const delta = {
      stop_reason: encodeStopReason(this.finish, this.isOwnFinish, this.hasCalls),
      stop_sequence: this.finish.stopSequence,
      ...this.finishFields,
      ...Object.fromEntries(Object.entries(unsent).filter(([name]) => DELTA_FIELDS.has(name))),
    };
    const last = {
      type: "message_delta",
      delta,
      usage: encodeUsage(report, asFields(raw) ?? {}, this.serviceTier),
      ...omit(unsent, DELTA_FIELDS),
      ...(metadata === null ? {} : { gateway_metadata: metadata }),
    };
    return out + encodeEvent(last) + encodeEvent({ type: "message_stop" });
  }

  fail(error: StreamError): string {
    return encodeStreamError(error);
  }

  private stepPart(event: PartEvent): string {
    if (event.kind === "part-start" && event.part.kind === "tool-call") this.hasCalls = true;
    return this.parts.step(event);
  }

  private holdFinish(event: AnswerEvent & { readonly kind: "finish" }): void {
    this.finish = event.finish;
    this.finishFields = keptFields(event);
    this.isOwnFinish = isOwn(event);
  }

  /** Encodes the start of the message, with the vendor's count of the prompt if it is known, else with an estimate. */
  private encodeStart(): string {
    const { identity, usage } = this;
    const { usage: raw, ...extras } = this.extras;
    this.sentExtras = extras;
    const estimate = { ...NO_TOKENS, promptTokens: this.asked.estimatedPromptTokens };
    const counters = { ...encodeCounters(usage ?? estimate), ...(usage === null ? {} : asFields(raw)) };
    correctAnthropicTier(counters);
    const message = {
      id: identity.id,
      type: "message",
      role: "assistant",
      model: identity.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      ...extras,
      usage: counters,
    };
    return encodeEvent({ type: "message_start", message });
  }
}
