import { NO_CHARGES } from "../../conversation/charges.ts";
import type { InferenceRequest } from "./inference-request.ts";

/** The properties that requests with one prompt instead of a conversation share: no tools, no media, no translation. */
export const SINGLE_PROMPT: Pick<
  InferenceRequest,
  "format" | "answers" | "isText" | "mayHaveMedia" | "hasSchemas" | "formatOfTools" | "listCharges"
> = {
  format: null,
  answers: 1,
  isText: { body: true, answer: true },
  mayHaveMedia: false,
  hasSchemas: false,
  formatOfTools: () => null,
  listCharges: () => NO_CHARGES,
};
