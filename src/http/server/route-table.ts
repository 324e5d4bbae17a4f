import { completeOidc, logoutByProvider, startOidc } from "../console/oidc-sign-in.ts";
import { getConsole } from "../console/serve-console.ts";
import type { Handler } from "../context/context.ts";
import { getRoot } from "../docs-page/root-page.ts";
import { apiRoutes } from "../routes/endpoints.ts";
import { chatCompletions } from "../routes/inference/chat-completions.ts";
import { completions } from "../routes/inference/completions.ts";
import { postCountTokens } from "../routes/inference/count-tokens.ts";
import { embeddings } from "../routes/inference/embeddings.ts";
import { fimCompletions } from "../routes/inference/fim-completions.ts";
import {
  images,
  moderations,
  rerank,
  speech,
  transcriptions,
} from "../routes/inference/forwarded-endpoints.ts";
import { messages } from "../routes/inference/messages.ts";
import { responses } from "../routes/inference/responses.ts";
import { countModels, getModel, getModelData, listEndpoints, listModels } from "../routes/models/models.ts";
import { listProviders } from "../routes/models/providers.ts";
import { getHealth, getReadiness } from "../routes/platform/health.ts";
import { postExplainRoute } from "../routes/routing/explain-route.ts";
import { getGeneration } from "../routes/traffic/generation.ts";
import { getMetrics } from "../routes/traffic/metrics.ts";

type Methods = Readonly<Record<string, Handler>>;

/** Loads the documentation when it is first read: its schemas would make each start longer. */
const loadDocumentation = () => import("../docs-page/documentation.ts");

/** Lets clients check that a gateway answers at their base URL. */
const BASE: Methods = { GET: () => Response.json({ object: "gateway" }) };

/** The routes under every gateway prefix (docs/api/README.md, "Paths"). `:name` is a path parameter. */
export const GATEWAY_ROUTES: Readonly<Record<string, Methods>> = {
  "": BASE,
  "/": BASE,
  "/chat/completions": { POST: chatCompletions },
  "/completions": { POST: completions },
  "/responses": { POST: responses },
  "/messages": { POST: messages },
  "/messages/count_tokens": { POST: postCountTokens },
  "/fim/completions": { POST: fimCompletions },
  "/embeddings": { POST: embeddings },
  "/moderations": { POST: moderations },
  "/rerank": { POST: rerank },
  "/images/generations": { POST: images },
  "/audio/speech": { POST: speech },
  "/audio/transcriptions": { POST: transcriptions },
  "/models": { GET: listModels },
  // The paths at which OpenRouter's SDK asks for the caller's models, for their number and for one model.
  "/models/user": { GET: listModels },
  "/models/count": { GET: countModels },
  "/model/:author/:model": { GET: getModelData },
  // OpenAI's SDK encodes the slash of an id as %2F.
  "/models/:id": { GET: getModel },
  "/models/:author/:model": { GET: getModel },
  "/models/:author/:model/endpoints": { GET: listEndpoints },
  "/providers": { GET: listProviders },
  "/generation": { GET: getGeneration },
  "/route/explain": { POST: postExplainRoute },
  ...apiRoutes("every prefix"),
};

/** The routes at a fixed path. */
export const FIXED_ROUTES: Readonly<Record<string, Methods>> = {
  "/": { GET: getRoot },
  "/healthz": { GET: getHealth },
  "/readyz": { GET: getReadiness },
  "/metrics": { GET: getMetrics },
  "/openapi.json": { GET: async (request) => (await loadDocumentation()).getOpenApi(request) },
  "/docs": { GET: async (request) => (await loadDocumentation()).getDocs(request) },
  "/console": { GET: getConsole },
  "/console/*": { GET: getConsole },
  "/api/console/oidc/start": { GET: startOidc },
  "/api/console/oidc/callback": { GET: completeOidc },
  "/api/console/oidc/backchannel-logout": { POST: logoutByProvider },
  ...apiRoutes("fixed"),
};

/** The routes at a fixed path that pages of other origins may call as those under a prefix. */
export const OPEN_FIXED_ROUTES: Readonly<Record<string, Methods>> = {
  // The specification names this path; the prefixes have the route too.
  "/api/fim/completions": { POST: fimCompletions },
};

/** The gateway prefixes. All serve the same: SDKs append `/v1`, and some need the shorter base URL. */
export const PREFIXES: readonly string[] = ["/api/gateway", "/api/gateway/v1", "/api/v1", "/v1"];
