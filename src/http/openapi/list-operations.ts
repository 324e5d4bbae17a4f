import { z } from "zod";
import { Model } from "../../core/catalog/present/model-view.ts";
import { Provider } from "../../core/catalog/present/present-provider.ts";
import { Generation } from "../api/generation-view.ts";
import { ErrorBody } from "./errors.ts";
import { LIST_QUERY, listOf, MODELS_QUERY, ModelEndpoints } from "./list-schemas.ts";
import { type Operation, ok } from "./operation.ts";
import { GATEWAY_BASE } from "./shared-parts.ts";

const COMMON = {
  method: "GET",
  tag: "Models",
  callers: { kind: "anyone" },
  params: null,
  query: null,
  headers: [],
  body: null,
  responseHeaders: [],
  errors: ["internal"],
  errorSchema: ErrorBody,
  takesIdempotencyKey: false,
} as const;

const CACHED = {
  headers: [
    {
      name: "If-None-Match",
      description: "The `etag` of an earlier response. If it is still current, the response is 304.",
    },
  ],
  responseHeaders: ["etag"],
} as const;

const NOT_MODIFIED = {
  status: 304,
  description: "The version you have is current.",
  schema: null,
} as const;

const author = z
  .string()
  .meta({ description: "Author: the part of the model id before the slash.", examples: ["sandbox"] });
const model = z
  .string()
  .meta({ description: "Name: the part of the model id after the slash.", examples: ["echo"] });
const ofModel = z.object({ author, model });

/** The operations on models, providers and generations. */
export const LIST_OPERATIONS: readonly Operation[] = [
  {
    ...COMMON,
    ...CACHED,
    path: `${GATEWAY_BASE}/models`,
    summary: "List the models and auto tiers that this gateway serves, with prices",
    callers: { kind: "optional_key" },
    query: MODELS_QUERY,
    responses: [ok("The models.", listOf(Model)), NOT_MODIFIED],
  },
  {
    ...COMMON,
    ...CACHED,
    path: `${GATEWAY_BASE}/models/user`,
    summary: "List the models that the caller may use: the same as GET models with a key",
    callers: { kind: "optional_key" },
    query: MODELS_QUERY,
    responses: [ok("The models.", listOf(Model)), NOT_MODIFIED],
  },
  {
    ...COMMON,
    path: `${GATEWAY_BASE}/models/count`,
    summary: "Count the records of GET models",
    callers: { kind: "optional_key" },
    query: LIST_QUERY,
    responses: [ok("The number.", z.object({ data: z.object({ count: z.int() }) }))],
  },
  {
    ...COMMON,
    path: `${GATEWAY_BASE}/model/:author/:model`,
    summary: "Retrieve a model or auto tier within `data`, as clients of OpenRouter read it",
    params: ofModel,
    responses: [ok("The model.", z.object({ data: Model }))],
    errors: ["not_found", "internal"],
  },
  {
    ...COMMON,
    path: `${GATEWAY_BASE}/models/:id`,
    summary: "Retrieve a model or auto tier by its id, with the slash encoded as %2F",
    params: z.object({
      id: z.string().meta({ description: "Id of the model.", examples: ["sandbox%2Fecho"] }),
    }),
    responses: [ok("The model.", Model)],
    errors: ["not_found", "internal"],
  },
  {
    ...COMMON,
    path: `${GATEWAY_BASE}/models/:author/:model`,
    summary: "Retrieve a model or auto tier of the catalog, also one that this gateway does not serve",
    params: ofModel,
    responses: [ok("The model.", Model)],
    errors: ["not_found", "internal"],
  },
  {
    ...COMMON,
    path: `${GATEWAY_BASE}/models/:author/:model/endpoints`,
    summary: "List the endpoints of a model, or of the models of an auto tier, with prices and recent health",
    params: ofModel,
    responses: [ok("The endpoints.", ModelEndpoints)],
    errors: ["not_found", "internal"],
  },
  {
    ...COMMON,
    ...CACHED,
    path: `${GATEWAY_BASE}/providers`,
    summary: "List the providers that this gateway can call",
    query: LIST_QUERY,
    responses: [ok("The providers.", listOf(Provider)), NOT_MODIFIED],
  },
  {
    ...COMMON,
    tag: "Self-service",
    path: `${GATEWAY_BASE}/generation`,
    summary: "Retrieve a generation of the key's account: usage, cost calculation, routing plan and attempts",
    callers: { kind: "inference_key" },
    query: z.object({
      id: z.string().meta({ description: "Id of the generation, `gen_…`.", examples: ["$GENERATION_ID"] }),
    }),
    responses: [ok("The generation.", z.looseObject({ data: Generation }))],
    errors: [
      "invalid_request",
      "authentication",
      "permission_denied",
      "not_found",
      "internal",
      "unavailable",
    ],
  },
];

const text = (mediaType: string, description: string) =>
  [ok(description, null, mediaType), NOT_MODIFIED] as const;

/** The operations of the service itself. */
export const SERVICE_OPERATIONS: readonly Operation[] = [
  {
    ...COMMON,
    tag: "Service",
    path: GATEWAY_BASE,
    summary: "Check that a gateway answers at this address",
    responses: [ok("A gateway answers.", z.looseObject({ object: z.literal("gateway") }))],
  },
  {
    ...COMMON,
    tag: "Service",
    path: "/",
    summary: "Retrieve the paths of this gateway. An HTML page for browsers",
    responses: [
      ok(
        "JSON, or HTML if `Accept` includes `text/html`.",
        z.object({
          object: z.literal("gateway"),
          base_path: z.string().describe("Path under which clients call models."),
          console: z.string().optional().describe("Absent if the console is disabled."),
          docs: z.string(),
          reference: z.string(),
          openapi: z.string(),
          models: z.string(),
          health: z.string(),
          readiness: z.string(),
        }),
      ),
    ],
  },
  {
    ...COMMON,
    tag: "Service",
    path: "/healthz",
    summary: "Liveness check: the process runs",
    responses: [ok("The process runs.", z.looseObject({ status: z.literal("ok") }))],
  },
  {
    ...COMMON,
    tag: "Service",
    path: "/readyz",
    summary: "Readiness check: 503 while the gateway drains or cannot answer requests",
    responses: [
      ok(
        "The gateway answers requests. If the status is `degraded`, it answers most of them, and `problems` says what does not work.",
        z.looseObject({
          status: z.enum(["ready", "degraded"]),
          problems: z.array(z.string()).optional(),
        }),
      ),
    ],
    errors: ["internal", "unavailable"],
  },
  {
    ...COMMON,
    tag: "Service",
    callers: { kind: "operator" },
    path: "/metrics",
    summary:
      "Read metrics in Prometheus' text format, with a management key of the operator or metrics.token",
    responses: [ok("The metrics of all processes of this gateway (docs/metrics.md).", null, "text/plain")],
    errors: ["authentication", "permission_denied", "not_found", "internal", "unavailable"],
  },
  {
    ...COMMON,
    ...CACHED,
    tag: "Service",
    path: "/openapi.json",
    summary: "Retrieve this document, OpenAPI 3.1",
    responses: [ok("The document.", z.looseObject({ openapi: z.string() })), NOT_MODIFIED],
  },
  {
    ...COMMON,
    ...CACHED,
    tag: "Service",
    path: "/docs/reference",
    summary: "Retrieve this document as an HTML page",
    responses: text("text/html", "The page."),
  },
  {
    ...COMMON,
    ...CACHED,
    tag: "Service",
    path: "/docs",
    summary:
      "Read the documents of this version: a list of all pages. The other pages are at the paths below",
    responses: text("text/html", "The page."),
  },
];
