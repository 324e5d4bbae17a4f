import type { UpstreamCodec } from "../canonical/model/format.ts";
import { decodeAnswer } from "./decode-response.ts";
import { encodeRequest } from "./encode-request.ts";
import { createReader } from "./read-stream.ts";

/** Google's `generateContent`, at AI Studio and Vertex AI. */
export const gemini: UpstreamCodec = { encodeRequest, decodeAnswer, createReader };
