import type { ClientCodec } from "../../canonical/model/format.ts";
import { EMPTY_REQUEST } from "../../canonical/model/request.ts";
import { decodeRequest } from "./decode-request.ts";
import { encodeAnswer } from "./encode-response.ts";
import { createWriter } from "./write-stream.ts";

/** Translates text completions of clients to and from the canonical model. */
export const openaiCompletions: ClientCodec = {
  decodeRequest,
  encodeAnswer,
  createWriter,
  keepForAnswer: () => ({ ...EMPTY_REQUEST, messages: [] }),
};
