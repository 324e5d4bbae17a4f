import { countTokens } from "../../core/generation/count-tokens.ts";
import { limitHeaders } from "../../core/limits/limit-headers.ts";
import { parseCountRequest } from "../../wire/client-apis/count-request.ts";
import type { Handler } from "../context/context.ts";
import { renderMessagesError } from "../errors/client-api-errors.ts";
import {
  bodyHolderOf,
  holdBeside,
  rejectOverLimit,
  renameModels,
  withLimit,
} from "../inference/inference-handler.ts";
import { identifyPrincipal } from "../middleware/identify-principal.ts";
import { readRequestBody } from "../middleware/read-body.ts";

/** `POST messages/count_tokens`, for any model (docs/contract.md, "Responses and Messages"). */
export const postCountTokens: Handler = async (request, context) => {
  context.renderError = renderMessagesError;
  const { deps } = context;
  const principal = await identifyPrincipal(request, context);
  try {
    await rejectOverLimit(principal, deps);
    const body = await readRequestBody(request, context, bodyHolderOf(principal));
    const asked = parseCountRequest(body, renameModels(deps));
    holdBeside(context, principal, asked.heldBytes);
    const readHeader = (name: string) => request.headers.get(name);
    const { tokens, estimated, limit } = await countTokens(deps.generation, principal, asked, readHeader);
    const counted = { input_tokens: tokens, ...(estimated ? { estimated } : {}) };
    return Response.json(counted, { headers: limit === null ? {} : limitHeaders(limit) });
  } catch (error) {
    throw await withLimit(error, principal, deps);
  }
};
