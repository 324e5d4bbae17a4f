import type { AnswerEnd, StreamError } from "../canonical/format.ts";
import type {
  AnswerRelay,
  RelayFinish,
  RelayIdentity,
  RelayVerdict,
  WholeAnswer,
} from "../canonical/relay.ts";
import { encodeStreamError } from "./encode-chunk.ts";
import { readAnswer } from "./read-answer.ts";
import {
  createRelay,
  encodeEnd,
  endRelay,
  finishOfRelay,
  isFinished,
  judgeRelay,
  type RelayState,
  stepRelay,
  stopRelay,
} from "./relay-stream.ts";
import { encodeUsage } from "./usage.ts";

/** A chat stream on its way to a chat client; `wantsUsageChunk` as it asked for in `stream_options`. */
export function createChatRelay(identity: RelayIdentity, wantsUsageChunk: boolean): AnswerRelay {
  return new ChatRelay(createRelay(identity, wantsUsageChunk));
}

/** A class, because one is made for every stream: its methods are not. */
class ChatRelay implements AnswerRelay {
  constructor(private readonly state: RelayState) {}

  step(piece: string): string {
    return stepRelay(this.state, piece);
  }

  end(): string {
    return endRelay(this.state);
  }

  get sawToken() {
    return this.state.sawToken;
  }

  get isDone() {
    return this.state.isDone;
  }

  get isFinished() {
    return isFinished(this.state);
  }

  get error() {
    return this.state.error;
  }

  get usage() {
    return this.state.usage;
  }

  /** Nothing tells before the usage does. */
  get searches() {
    return this.state.usage?.searches ?? 0;
  }

  get producedBytes() {
    return this.state.producedBytes;
  }

  judge(): RelayVerdict {
    return judgeRelay(this.state);
  }

  finish(): RelayFinish | null {
    return finishOfRelay(this.state);
  }

  stopShort(): string {
    stopRelay(this.state);
    return "";
  }

  encodeEnd({ report, metadata }: AnswerEnd): string {
    return encodeEnd(this.state, encodeUsage(report), metadata);
  }

  encodeError(error: StreamError): string {
    return encodeStreamError(error);
  }
}

/** A chat vendor's whole answer for a chat client. */
export function readChatAnswer(body: string, identity: RelayIdentity): WholeAnswer {
  const reading = readAnswer(body, identity);
  if (reading.kind === "error") return reading;
  return {
    kind: "answer",
    isEmpty: reading.isEmpty,
    usage: reading.usage,
    producedBytes: reading.producedBytes,
    finish: reading.finish,
    encode: ({ report, metadata }) =>
      JSON.stringify({
        ...reading.body,
        usage: encodeUsage(report),
        ...(metadata === null ? {} : { gateway_metadata: metadata }),
      }),
  };
}
