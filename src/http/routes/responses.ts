import { statusOf } from "../../base/errors.ts";
import { openResponsesRequest } from "../../wire/dialects/responses-request.ts";
import { encodeResponsesError } from "../../wire/openai-responses/errors.ts";
import type { ErrorRenderer } from "../context.ts";
import { inferenceHandler } from "../inference.ts";
import { respondWithError } from "../render-error.ts";

/** A failure as clients of the Responses API read it: `code` is OpenAI's word, `status` the number. */
export const renderResponsesError: ErrorRenderer = (failure, headers) =>
  respondWithError(failure, encodeResponsesError({ ...failure, status: statusOf(failure) }), headers);

/** `POST responses` (docs/contract.md, "Responses and Messages"). */
export const responses = inferenceHandler({ open: openResponsesRequest, renderError: renderResponsesError });
