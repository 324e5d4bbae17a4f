import { failureOf } from "../../base/failures/errors.ts";
import { limitHeaders } from "../../core/limits/limit-headers.ts";
import { countTokens } from "../../core/questions/count-tokens.ts";
import type { ClientApiDeclaration, CountOperation, SentTarget } from "../../wire/client-apis/client-api.ts";
import type { RequestContext } from "../context/context.ts";
import { rendererOf } from "../errors/client-api-errors.ts";
import { admit } from "../middleware/admit.ts";
import { takeMemory } from "../middleware/read-body.ts";
import { describeAsked } from "./asked-request.ts";
import { withLimitHeaders } from "./inference-handler.ts";
import { parseWithPreset } from "./parse-with-preset.ts";

/** Returns the handler of an operation that counts the tokens of a request for any model (docs/api/messages.md, "Token count"). */
export function countHandler(api: ClientApiDeclaration, operation: CountOperation) {
  const renderError = rendererOf(api);
  const access = { kind: api.access } as const;
  return async (request: Request, context: RequestContext, target: SentTarget = context) => {
    context.renderError = renderError;
    const { deps } = context;
    let body: Buffer | null = null;
    try {
      const { principal, body: sent } = await admit(request, context, access);
      body = operation.readBody?.(sent, target) ?? sent;
      const parser = {
        api: api.name,
        parse: (bytes: Buffer) => operation.parse(bytes, deps.clients.renameModel),
      };
      const parsed = await parseWithPreset(deps.generation, parser, { body, principal });
      takeMemory(context, principal, parsed.request.heldBytes + parsed.bodyBytes);
      const { request: counted, preset } = parsed;
      const call = { principal, request: counted, preset, headers: request.headers };
      const { tokens, estimated, limit } = await countTokens(deps.generation, call);
      const headers = limit === null ? {} : limitHeaders(limit);
      return Response.json(operation.encodeCount(tokens, estimated), { headers });
    } catch (error) {
      context.asked = describeAsked(api.name, body, null);
      deps.observers.requestObserver?.onRefused(failureOf(error));
      throw await withLimitHeaders(error, context);
    }
  };
}
