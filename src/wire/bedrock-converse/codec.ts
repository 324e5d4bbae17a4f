import type { UpstreamCodec } from "../canonical/format.ts";
import { decodeAnswer } from "./decode-response.ts";
import { encodeRequest } from "./encode-request.ts";
import { createReader } from "./read-stream.ts";

/** Amazon Bedrock's Converse and ConverseStream. The model stands in the address, so the body does not name it. */
export const bedrockConverse: UpstreamCodec = { encodeRequest, decodeAnswer, createReader };
