import { limitHeaders } from "../../../core/limits/limit-headers.ts";
import { countTokens } from "../../../core/questions/count-tokens.ts";
import { parseCountRequest } from "../../../wire/client-apis/count-request.ts";
import type { Handler } from "../../context/context.ts";
import { renderMessagesError } from "../../errors/client-api-errors.ts";
import { reserveExtraMemory, withLimitHeaders } from "../../inference/inference-handler.ts";
import { parseWithPreset } from "../../inference/parse-with-preset.ts";
import { admit } from "../../middleware/admit.ts";

/** `POST messages/count_tokens`: counts the tokens of a Messages request for any model (docs/api/messages.md, "Token count"). */
export const postCountTokens: Handler = async (request, context) => {
  context.renderError = renderMessagesError;
  const { deps } = context;
  try {
    const { principal, body } = await admit(request, context, { kind: "open_inference" });
    const {
      request: counted,
      preset,
      bodyBytes,
    } = await parseWithPreset(
      deps.generation,
      { api: "messages", parse: (bytes) => parseCountRequest(bytes, deps.renameModel) },
      { body, principal },
    );
    reserveExtraMemory(context, principal, counted.heldBytes + bodyBytes);
    const call = { principal, request: counted, preset, headers: request.headers };
    const { tokens, estimated, limit } = await countTokens(deps.generation, call);
    const answer = { input_tokens: tokens, ...(estimated ? { estimated } : {}) };
    return Response.json(answer, { headers: limit === null ? {} : limitHeaders(limit) });
  } catch (error) {
    throw await withLimitHeaders(error, context);
  }
};
