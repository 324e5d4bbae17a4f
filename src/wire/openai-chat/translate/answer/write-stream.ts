import { assignFields, type Fields, isEmpty } from "../../../../base/json/fields.ts";
import type { AnswerEvent } from "../../../canonical/model/answer.ts";
import type {
  AnswerEnd,
  AnswerIdentity,
  AnswerWriter,
  AskedFor,
  StreamError,
} from "../../../canonical/model/format.ts";
import { nameOpenaiTier } from "../../../canonical/model/service-tiers.ts";
import { ChunkEncoder, encodeStreamError } from "../../stream-events.ts";
import { encodeUsage } from "../../usage.ts";
import { keptFields } from "../parts/extras.ts";
import { hidesReasoning } from "./encode-response.ts";
import { type ChoiceEvent, ChoiceWriter } from "./write-choice.ts";

/** Returns a writer of a stream for a client of this format (docs/api/chat.md, "Stream"). */
export function createWriter(identity: AnswerIdentity, asked: AskedFor): AnswerWriter {
  return new ChunkWriter(identity, asked);
}

class ChunkWriter implements AnswerWriter {
  private readonly encoder: ChunkEncoder;
  private readonly choices = new Map<number, ChoiceWriter>();
  /** Fields of the answer as a whole that are sent with the next chunk. Null for none. */
  private carried: Record<string, unknown> | null = null;

  constructor(
    identity: AnswerIdentity,
    private readonly asked: AskedFor,
  ) {
    this.encoder = new ChunkEncoder(identity, asked.wantsUsageChunk);
  }

  step(event: AnswerEvent): string {
    switch (event.kind) {
      case "extras":
        this.keepForNextEvent(keptFields(event));
        return "";
      case "service-tier": {
        const tier = nameOpenaiTier(event.tier);
        if (tier !== undefined) this.keepForNextEvent({ service_tier: tier });
        return "";
      }
      case "usage":
      case "error":
        return "";
      default:
        return this.stepChoice(this.choiceAt(event.choice), event);
    }
  }

  end({ report, metadata }: AnswerEnd): string {
    const choices = [...this.choices.values()].toSorted((a, b) => a.index - b.index);
    const finishes = choices.map((choice) => choice.encodeFinish());
    return this.encoder.encodeEnding({
      finishes,
      fields: this.carried ?? {},
      usage: encodeUsage(report),
      metadata,
    });
  }

  fail(error: StreamError): string {
    return encodeStreamError(error);
  }

  private stepChoice(choice: ChoiceWriter, event: ChoiceEvent): string {
    const plain = this.carried === null ? choice.encodePlainText(event) : null;
    if (plain !== null) return plain;
    const entry = choice.step(event);
    if (entry === null) return "";
    const { carried } = this;
    this.carried = null;
    return this.encoder.encodeEvent(carried ?? {}, [entry]);
  }

  private keepForNextEvent(fields: Fields): void {
    if (!isEmpty(fields)) this.carried = assignFields(this.carried ?? {}, fields);
  }

  private choiceAt(index: number): ChoiceWriter {
    let choice = this.choices.get(index);
    if (choice === undefined) {
      const { asked, encoder } = this;
      choice = new ChoiceWriter(index, encoder, {
        hidesReasoning: hidesReasoning(asked),
        usesFunctions: asked.usesFunctions === true,
      });
      this.choices.set(index, choice);
    }
    return choice;
  }
}
