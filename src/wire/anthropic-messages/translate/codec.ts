import type { ClientCodec, UpstreamCodec } from "../../canonical/format.ts";
import { EMPTY_REQUEST } from "../../canonical/request.ts";
import { decodeRequest } from "./decode-request.ts";
import { decodeAnswer } from "./decode-response.ts";
import { encodeRequest } from "./encode-request.ts";
import { encodeAnswer } from "./encode-response.ts";
import { createReader } from "./read-stream.ts";
import { createWriter } from "./write-stream.ts";

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
