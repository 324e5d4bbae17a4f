import type { ClientApi } from "../../wire/client-apis/inference-request.ts";
import { REQUEST_PARSERS } from "../../wire/client-apis/request-parsers.ts";
import { renderError } from "../errors/render-error.ts";
import { inferenceHandler } from "../inference/inference-handler.ts";

/** Returns the handler of an endpoint whose requests and answers are forwarded (docs/api/other-endpoints.md). */
function forwardedHandler(api: ClientApi) {
  return inferenceHandler({
    api,
    access: { kind: "open_inference" },
    parse: REQUEST_PARSERS[api],
    renderError,
  });
}

/** `POST moderations`. */
export const moderations = forwardedHandler("moderations");
/** `POST rerank`. */
export const rerank = forwardedHandler("rerank");
