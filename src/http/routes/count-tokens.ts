import { countTokens } from "../../core/generation/count-tokens.ts";
import { limitHeaders } from "../../core/limits/limit-headers.ts";
import { openCountRequest } from "../../wire/client-apis/count-request.ts";
import type { Handler } from "../context/context.ts";
import { renderMessagesError } from "../errors/client-api-errors.ts";
import {
  bodyHolderOf,
  holdBeside,
  refuseOverLimit,
  renameModels,
  withLimit,
} from "../inference/inference-handler.ts";
import { identifyCaller } from "../middleware/identify-caller.ts";
import { readRequestBody } from "../middleware/read-body.ts";

/** `POST messages/count_tokens`, for any model (docs/contract.md, "Responses and Messages"). */
export const postCountTokens: Handler = async (request, context) => {
  context.renderError = renderMessagesError;
  const { deps } = context;
  const caller = await identifyCaller(request, context);
  try {
    refuseOverLimit(caller, deps);
    const body = await readRequestBody(request, context, bodyHolderOf(caller));
    const asked = openCountRequest(body, renameModels(deps));
    holdBeside(context, caller, asked.heldBytes);
    const readHeader = (name: string) => request.headers.get(name);
    const { tokens, estimated, limit } = await countTokens(deps.generation, caller, asked, readHeader);
    const counted = { input_tokens: tokens, ...(estimated ? { estimated } : {}) };
    return Response.json(counted, { headers: limit === null ? {} : limitHeaders(limit) });
  } catch (error) {
    throw withLimit(error, caller, deps);
  }
};
