import { z } from "zod";
import { ErrorAnswer } from "./errors.ts";
import { Generation, LIST_QUERY, listOf, Model, ModelEndpoints, Provider } from "./list-schemas.ts";
import type { Operation } from "./operation.ts";
import { GATEWAY_BASE } from "./shared-parts.ts";

const COMMON = {
  method: "GET",
  tag: "Models",
  callers: { kind: "anyone" },
  params: null,
  query: null,
  headers: [],
  body: null,
  answerHeaders: [],
  errors: ["internal"],
  errorSchema: ErrorAnswer,
  takesIdempotencyKey: false,
} as const;

const CACHED = {
  headers: [{ name: "If-None-Match", description: "The `etag` of an earlier answer: 304 while it holds" }],
  answerHeaders: ["etag"],
} as const;

const NOT_MODIFIED = {
  status: 304,
  description: "The version that you have still holds",
  schema: null,
} as const;

const author = z
  .string()
  .meta({ description: "The part of the model's id before the slash", examples: ["sandbox"] });
const model = z.string().meta({ description: "The part behind it", examples: ["echo"] });
const ofModel = z.object({ author, model });

/** Lists of what there is, and what a generation was. */
export const LIST_OPERATIONS: readonly Operation[] = [
  {
    ...COMMON,
    ...CACHED,
    path: `${GATEWAY_BASE}/models`,
    summary: "The models and auto tiers that can be called here, with their prices",
    callers: { kind: "narrowed" },
    query: LIST_QUERY,
    answers: [{ status: 200, description: "All of them", schema: listOf(Model) }, NOT_MODIFIED],
  },
  {
    ...COMMON,
    path: `${GATEWAY_BASE}/models/:id`,
    summary: "A model or an auto tier, by its whole id with the slash as %2F",
    params: z.object({ id: z.string().meta({ description: "Its id", examples: ["sandbox%2Fecho"] }) }),
    answers: [{ status: 200, description: "The model", schema: Model }],
    errors: ["not_found", "internal"],
  },
  {
    ...COMMON,
    path: `${GATEWAY_BASE}/models/:author/:model`,
    summary: "A model or an auto tier, also one that cannot be called here",
    params: ofModel,
    answers: [{ status: 200, description: "The model", schema: Model }],
    errors: ["not_found", "internal"],
  },
  {
    ...COMMON,
    path: `${GATEWAY_BASE}/models/:author/:model/endpoints`,
    summary: "Who serves a model or the models of an auto tier, under which name, at what price",
    params: ofModel,
    answers: [{ status: 200, description: "Its providers", schema: ModelEndpoints }],
    errors: ["not_found", "internal"],
  },
  {
    ...COMMON,
    ...CACHED,
    path: `${GATEWAY_BASE}/providers`,
    summary: "The providers that can be called here",
    query: LIST_QUERY,
    answers: [{ status: 200, description: "All of them", schema: listOf(Provider) }, NOT_MODIFIED],
  },
  {
    ...COMMON,
    tag: "Self-service",
    path: `${GATEWAY_BASE}/generation`,
    summary: "What a generation was and cost, with the arithmetic; of the key's own account",
    callers: { kind: "inference" },
    query: z.object({
      id: z.string().meta({ description: "The generation's id, gen_…", examples: ["$GENERATION_ID"] }),
    }),
    answers: [{ status: 200, description: "The generation", schema: z.looseObject({ data: Generation }) }],
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
  [{ status: 200, description, schema: null, mediaType }, NOT_MODIFIED] as const;

/** Whether it runs, and what it can do. */
export const SERVICE_OPERATIONS: readonly Operation[] = [
  {
    ...COMMON,
    tag: "Service",
    path: GATEWAY_BASE,
    summary: "Whether somebody is there",
    answers: [{ status: 200, description: "Yes", schema: z.looseObject({ object: z.literal("gateway") }) }],
  },
  {
    ...COMMON,
    tag: "Service",
    path: "/healthz",
    summary: "Whether the process runs",
    answers: [{ status: 200, description: "It does", schema: z.looseObject({ status: z.literal("ok") }) }],
  },
  {
    ...COMMON,
    tag: "Service",
    path: "/readyz",
    summary: "Whether it can serve; 503 while it drains or cannot write its records",
    answers: [{ status: 200, description: "It can", schema: z.looseObject({ status: z.literal("ready") }) }],
    errors: ["internal", "unavailable"],
  },
  {
    ...COMMON,
    ...CACHED,
    tag: "Service",
    path: "/openapi.json",
    summary: "This document, OpenAPI 3.1",
    answers: [
      { status: 200, description: "The document", schema: z.looseObject({ openapi: z.string() }) },
      NOT_MODIFIED,
    ],
  },
  {
    ...COMMON,
    ...CACHED,
    tag: "Service",
    path: "/docs",
    summary: "This document, as a page for people",
    answers: text("text/html", "The page"),
  },
];
