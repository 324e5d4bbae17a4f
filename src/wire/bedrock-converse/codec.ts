import type { UpstreamCodec } from "../canonical/model/format.ts";
import { decodeAnswer } from "./decode-response.ts";
import { encodeRequest } from "./encode-request.ts";
import { createReader } from "./read-stream.ts";

/** Amazon Bedrock's Converse and ConverseStream. The URL names the model, so the body does not. */
export const bedrockConverse: UpstreamCodec = { encodeRequest, decodeAnswer, createReader };
