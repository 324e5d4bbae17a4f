import type { ClientCodec, UpstreamCodec } from "../../canonical/model/format.ts";
import { EMPTY_REQUEST } from "../../canonical/model/request.ts";
import { decodeAnswer } from "./answer/decode-response.ts";
import { encodeAnswer } from "./answer/encode-response.ts";
import { createReader } from "./answer/read-stream.ts";
import { createWriter } from "./answer/write-stream.ts";
import { decodeRequest } from "./request/decode-request.ts";
import { encodeRequest } from "./request/encode-request.ts";

/** The codec of the Messages API, for clients and upstreams. */
export const anthropicMessages: UpstreamCodec & ClientCodec = {
  decodeRequest,
  encodeRequest,
  decodeAnswer,
  encodeAnswer,
  createReader,
  createWriter,
  keepForAnswer: () => ({ ...EMPTY_REQUEST, messages: [] }),
};
