import type { UpstreamCodec } from "../canonical/model/format.ts";
import { decodeAnswer } from "./decode-response.ts";
import { encodeRequest } from "./encode-request.ts";
import { createReader } from "./read-stream.ts";

/** Cohere's chat API, version 2 (`POST /v2/chat`). */
export const cohereChat: UpstreamCodec = { encodeRequest, decodeAnswer, createReader };
