import type { ClientCodec, UpstreamCodec } from "../../canonical/format.ts";
import { decodeRequest } from "./decode-request.ts";
import { decodeAnswer } from "./decode-response.ts";
import { encodeRequest } from "./encode-request.ts";
import { encodeAnswer } from "./encode-response.ts";
import { keepForAnswer } from "./keep-for-answer.ts";
import { createReader } from "./read-stream.ts";
import { createWriter } from "./write-stream.ts";

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
