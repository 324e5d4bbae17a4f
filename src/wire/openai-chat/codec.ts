import type { ClientCodec, UpstreamCodec } from "../canonical/format.ts";
import { NOTHING_SAID } from "../canonical/request.ts";
import { decodeAnswer } from "./decode-answer.ts";
import { decodeConversation } from "./decode-conversation.ts";
import { encodeAnswer } from "./encode-answer.ts";
import { encodeConversation } from "./encode-conversation.ts";
import { createReader } from "./read-stream.ts";
import { createWriter } from "./write-stream.ts";

/** The OpenAI chat format at the hub, for clients and for vendors of other formats; with itself it meets by splicing. */
export const openaiChat: UpstreamCodec & ClientCodec = {
  decodeRequest: decodeConversation,
  encodeRequest: encodeConversation,
  decodeAnswer,
  encodeAnswer,
  createReader,
  createWriter,
  keepForAnswer: ({ reasoning }) => ({ ...NOTHING_SAID, messages: [], reasoning }),
};
