import type { ClientCodec, UpstreamCodec } from "../../canonical/model/format.ts";
import { EMPTY_REQUEST } from "../../canonical/model/request.ts";
import { fitChatBody, prefillOf } from "../fit-messages.ts";
import { decodeAnswer } from "./answer/decode-response.ts";
import { encodeAnswer } from "./answer/encode-response.ts";
import { createReader } from "./answer/read-stream.ts";
import { createWriter } from "./answer/write-stream.ts";
import { decodeRequest } from "./request/decode-request.ts";
import { encodeRequest } from "./request/encode-request.ts";

/** Translates between the OpenAI chat format and the canonical model. */
export const openaiChat: UpstreamCodec & ClientCodec = {
  decodeRequest: decodeRequest,
  encodeRequest: encodeRequest,
  decodeAnswer,
  encodeAnswer,
  createReader,
  createWriter,
  fitBody: fitChatBody,
  prefillOf,
  keepForAnswer: ({ reasoning }) => ({ ...EMPTY_REQUEST, messages: [], reasoning }),
};
