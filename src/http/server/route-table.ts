import { CLIENT_APIS } from "../../wire/client-apis/client-apis.ts";
import { completeOidc, logoutByProvider, startOidc } from "../console/oidc-sign-in.ts";
import { getConsole } from "../console/serve-console.ts";
import type { Handler } from "../context/context.ts";
import { getRoot } from "../docs-page/root-page.ts";
import { joinRoutes, listApiRoutes, type Routes } from "../inference/api-routes.ts";
import { apiRoutes } from "../routes/endpoints.ts";
import { countModels, getModel, getModelData, listEndpoints, listModels } from "../routes/models/models.ts";
import { listProviders } from "../routes/models/providers.ts";
import { getHealth, getReadiness } from "../routes/platform/health.ts";
import { CONVERSATION_ROUTES } from "../routes/response-objects/conversations.ts";
import { RESPONSE_ROUTES } from "../routes/response-objects/responses.ts";
import { postExplainRoute } from "../routes/routing/explain-route.ts";
import { getGeneration } from "../routes/traffic/generation.ts";
import { getMetrics } from "../routes/traffic/metrics.ts";
import type { SocketOperation } from "../sockets/socket-route.ts";

/** Loads the documentation when it is first read: its schemas would make each start longer. */
const loadDocumentation = () => import("../docs-page/documentation.ts");

const getDocuments: Handler = async (request, context) =>
  (await import("../documents/serve-documents.ts")).getDocuments(request, context);

/** Lets clients check that a gateway answers at their base URL. */
const BASE: Routes[string] = { GET: () => Response.json({ object: "gateway" }) };

const API_ROUTES = listApiRoutes(Object.values(CLIENT_APIS));

/** The routes under every gateway prefix (docs/api/README.md, "Paths"). `:name` is a path parameter. */
export const GATEWAY_ROUTES: Routes = joinRoutes({ "": BASE, "/": BASE }, API_ROUTES.underPrefixes, {
  "/models": { GET: listModels },
  // The paths at which OpenRouter's SDK requests the caller's models, their number, and one model.
  "/models/user": { GET: listModels },
  "/models/count": { GET: countModels },
  "/model/:author/:model": { GET: getModelData },
  // OpenAI's SDK encodes the slash of an id as %2F.
  "/models/:id": { GET: getModel },
  "/models/:author/:model": { GET: getModel },
  "/models/:author/:model/endpoints": { GET: listEndpoints },
  "/providers": { GET: listProviders },
  "/generation": { GET: getGeneration },
  ...RESPONSE_ROUTES,
  ...CONVERSATION_ROUTES,
  "/route/explain": { POST: postExplainRoute },
  ...apiRoutes("every prefix"),
});

/** The operations that are also called over WebSockets, by their path under every gateway prefix. */
export const SOCKET_OPERATIONS: Readonly<Record<string, SocketOperation>> = Object.fromEntries(
  Object.values(CLIENT_APIS).flatMap((api) =>
    api.operations.flatMap(({ path, socket }) =>
      socket === undefined ? [] : [[path, { api, format: socket }]],
    ),
  ),
);

/** The routes at a fixed path. */
export const FIXED_ROUTES: Routes = {
  "/": { GET: getRoot },
  "/healthz": { GET: getHealth },
  "/readyz": { GET: getReadiness },
  "/metrics": { GET: getMetrics },
  "/openapi.json": { GET: async (request) => (await loadDocumentation()).getOpenApi(request) },
  "/docs": { GET: getDocuments },
  "/docs/*": { GET: getDocuments },
  "/docs/reference": { GET: async (request) => (await loadDocumentation()).getReference(request) },
  "/console": { GET: getConsole },
  "/console/*": { GET: getConsole },
  "/api/console/oidc/start": { GET: startOidc },
  "/api/console/oidc/callback": { GET: completeOidc },
  "/api/console/oidc/backchannel-logout": { POST: logoutByProvider },
  ...apiRoutes("fixed"),
};

/** The routes at a fixed path that pages of other origins may call, like those under a prefix. */
export const OPEN_FIXED_ROUTES: Routes = API_ROUTES.fixed;

/** The gateway prefixes. All serve the same: SDKs append `/v1`, and some need the shorter base URL. */
export const PREFIXES: readonly string[] = ["/api/gateway", "/api/gateway/v1", "/api/v1", "/v1"];
