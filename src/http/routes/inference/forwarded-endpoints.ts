import type { ClientApi } from "../../../wire/client-apis/inference-request.ts";
import { REQUEST_PARSERS } from "../../../wire/client-apis/request-parsers.ts";
import { renderError } from "../../errors/render-error.ts";
import { type ClientApiOptions, inferenceHandler } from "../../inference/inference-handler.ts";

/** Returns the handler of an endpoint whose requests and answers are forwarded (docs/api/other-endpoints.md). */
function forwardedHandler(api: ClientApi, more: Pick<ClientApiOptions, "takesForm"> = {}) {
  return inferenceHandler({
    api,
    access: { kind: "open_inference" },
    parse: REQUEST_PARSERS[api],
    renderError,
    ...more,
  });
}

/** `POST moderations`. */
export const moderations = forwardedHandler("moderations");
/** `POST rerank`. */
export const rerank = forwardedHandler("rerank");
/** `POST images/generations`. */
export const images = forwardedHandler("images");
/** `POST audio/speech`. */
export const speech = forwardedHandler("speech");
/** `POST audio/transcriptions`. */
export const transcriptions = forwardedHandler("transcriptions", { takesForm: true });
