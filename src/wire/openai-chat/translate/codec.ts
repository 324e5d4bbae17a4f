import type { ClientCodec, UpstreamCodec } from "../../canonical/format.ts";
import { EMPTY_REQUEST } from "../../canonical/request.ts";
import { fitChatBody, prefillOf } from "../fit-messages.ts";
import { decodeRequest } from "./decode-request.ts";
import { decodeAnswer } from "./decode-response.ts";
import { encodeRequest } from "./encode-request.ts";
import { encodeAnswer } from "./encode-response.ts";
import { createReader } from "./read-stream.ts";
import { createWriter } from "./write-stream.ts";

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
