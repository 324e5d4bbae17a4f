import type { AnswerRelay, RelayIdentity, WholeAnswer } from "../canonical/relay.ts";
import { encodeStreamError } from "./encode-chunk.ts";
import { readAnswer } from "./read-answer.ts";
import {
  createRelay,
  encodeEnd,
  endRelay,
  finishOfRelay,
  isFinished,
  judgeRelay,
  stepRelay,
} from "./relay-stream.ts";
import { encodeUsage } from "./usage.ts";

/** A chat stream on its way to a chat client; `wantsUsageChunk` as it asked for in `stream_options`. */
export function createChatRelay(identity: RelayIdentity, wantsUsageChunk: boolean): AnswerRelay {
  const state = createRelay(identity, wantsUsageChunk);
  return {
    step: (piece) => stepRelay(state, piece),
    end: () => endRelay(state),
    get sawToken() {
      return state.sawToken;
    },
    get isDone() {
      return state.isDone;
    },
    get isFinished() {
      return isFinished(state);
    },
    get error() {
      return state.error;
    },
    get usage() {
      return state.usage;
    },
    /** Nothing tells before the usage does. */
    get searches() {
      return state.usage?.searches ?? 0;
    },
    get producedBytes() {
      return state.producedBytes;
    },
    judge: () => judgeRelay(state),
    finish: () => finishOfRelay(state),
    encodeEnd: ({ report, metadata }) => encodeEnd(state, encodeUsage(report), metadata),
    encodeError: (error) => encodeStreamError(identity, error),
  };
}

/** A chat vendor's whole answer for a chat client. */
export function readChatAnswer(body: string, identity: RelayIdentity): WholeAnswer {
  const reading = readAnswer(body, identity);
  if (reading.kind === "error") return reading;
  return {
    kind: "answer",
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
