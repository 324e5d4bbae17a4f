import { countTokens } from "../../core/generation/count-tokens.ts";
import { openCountRequest } from "../../wire/dialects/count-request.ts";
import type { Handler } from "../context.ts";
import { refuseOverLimit, renameModels } from "../inference.ts";
import { identifyCaller } from "../middleware/identify-caller.ts";
import { readRequestBody } from "../middleware/read-body.ts";
import { renderMessagesError } from "./messages.ts";

/** `POST messages/count_tokens`, for any model (docs/contract.md, "Responses and Messages"). */
export const postCountTokens: Handler = async (request, context) => {
  context.renderError = renderMessagesError;
  const { deps } = context;
  const caller = await identifyCaller(request, context);
  refuseOverLimit(caller, deps);
  const body = await readRequestBody(request, context);
  const asked = openCountRequest(body, renameModels(deps));
  const tokens = await countTokens(deps.generation, caller, asked, (name) => request.headers.get(name));
  return Response.json({ input_tokens: tokens });
};
