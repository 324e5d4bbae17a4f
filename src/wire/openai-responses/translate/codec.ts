import type { ClientCodec, UpstreamCodec } from "../../canonical/model/format.ts";
import { decodeAnswer } from "./answer/decode-response.ts";
import { encodeAnswer } from "./answer/encode-response.ts";
import { keepForAnswer } from "./answer/keep-for-answer.ts";
import { createReader } from "./answer/read-stream.ts";
import { createWriter } from "./answer/write-stream.ts";
import { decodeRequest } from "./request/decode-request.ts";
import { encodeRequest } from "./request/encode-request.ts";

/** The codec of the OpenAI Responses format, for clients and upstreams. */
export const openaiResponses: UpstreamCodec & ClientCodec = {
  encodeRequest,
  decodeAnswer,
  createReader,
  decodeRequest,
  encodeAnswer,
  createWriter,
  keepForAnswer,
};
