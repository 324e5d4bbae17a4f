import { openFimRequest } from "../../wire/dialects/fim-request.ts";
import { inferenceHandler } from "../inference.ts";
import { renderError } from "../render-error.ts";

/** `POST fim/completions` (specification 4.2). */
export const fimCompletions = inferenceHandler({ open: openFimRequest, renderError, needsKey: true });
