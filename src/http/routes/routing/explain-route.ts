import { fail } from "../../../base/failures/errors.ts";
import { explainRoute } from "../../../core/questions/explain-route.ts";
import { CLIENT_APIS } from "../../../wire/client-apis/client-apis.ts";
import type { ClientApi } from "../../../wire/client-apis/request/inference-request.ts";
import type { Handler } from "../../context/context.ts";
import { urlOf } from "../../context/url-of.ts";
import { parseWithPreset } from "../../inference/parse-with-preset.ts";
import { admit } from "../../middleware/admit.ts";
import { takeMemory } from "../../middleware/read-body.ts";

/** The client APIs with JSON bodies, as this endpoint has. */
const EXPLAINED: readonly string[] = Object.values(CLIENT_APIS)
  .filter(({ takesForm }) => takesForm !== true)
  .map(({ name }) => name);

/** `POST route/explain?api=`: explains how the request in the body would be routed, without calling a provider (docs/routing.md). */
export const postExplainRoute: Handler = async (request, context) => {
  const { deps } = context;
  const { principal, body } = await admit(request, context, { kind: "inference" });
  const api = (urlOf(request).searchParams.get("api") ?? "chat.completions") as ClientApi;
  if (!EXPLAINED.includes(api)) {
    fail("invalid_request", `api must be one of ${EXPLAINED.join(", ")}.`, {
      metadata: { field: "api" },
    });
  }
  const {
    request: parsed,
    preset,
    bodyBytes,
  } = await parseWithPreset(
    deps.generation,
    { api, parse: (bytes) => CLIENT_APIS[api].parse(bytes, deps.clients.renameModel, request.headers) },
    { body, principal },
  );
  takeMemory(context, principal, parsed.memory.heldBytes + bodyBytes);
  const call = { principal, request: parsed, preset, headers: request.headers };
  return Response.json({ data: await explainRoute(deps.generation, call) });
};
