import { z } from "zod";
import { principalOfAccount, principalOfKey } from "../../core/accounts/inference-principal.ts";
import type { AccountPrincipal, ManagementPrincipal } from "../../core/accounts/principal.ts";
import { DEFAULT_ACCOUNT_ID } from "../../core/accounts/records.ts";
import { IdInput } from "../../core/accounts/resource-fields.ts";
import type { TierRecord } from "../../core/catalog/tier-records.ts";
import { tierSchema } from "../../core/catalog/tier-schema.ts";
import type { GenerationDeps } from "../../core/generation/call.ts";
import { explainRoute } from "../../core/generation/explain-route.ts";
import type { ClientApi } from "../../wire/client-apis/inference-request.ts";
import { ACCOUNT_READERS, managedAccountOf, requireOwnAccount } from "../api/access.ts";
import { defineEndpoint, NOTHING } from "../api/endpoint.ts";
import { RouteExplanation } from "../api/route-explanation.ts";
import type { HttpDeps } from "../context/context.ts";
import { renameModels } from "../inference/inference-handler.ts";
import { parseWithPreset } from "../inference/parse-with-preset.ts";
import { REQUEST_PARSERS } from "./explain-route.ts";

const MAX_HEADERS = 50;

const headerName = z.string().regex(/^[\w!#$%&'*+.^`|~-]{1,100}$/, "must be the name of a header");
const headerValue = z
  .string()
  .regex(/^[\x20-\x7e]{0,1000}$/, "must be printable ASCII of at most 1000 characters");

const ExplainBody = z.strictObject({
  api: z
    .enum(Object.keys(REQUEST_PARSERS) as [ClientApi, ...ClientApi[]])
    .default("chat.completions")
    .describe("Client API of the request."),
  key_id: IdInput.optional().describe("Explain the request as one with this inference key."),
  account_id: IdInput.optional().describe(
    "Explain the request as one of this account, with a key that restricts nothing. Defaults to the caller's own account.",
  ),
  headers: z
    .record(headerName, headerValue)
    .refine(
      (headers) => Object.keys(headers).length <= MAX_HEADERS,
      `must not have more than ${MAX_HEADERS} headers`,
    )
    .default({})
    .describe("Headers of the request, by which tiers may choose."),
  tier: tierSchema
    .optional()
    .describe("A tier to try, which is not stored. It replaces the tier in force with its id."),
  request: z.record(z.string(), z.unknown()).meta({
    description: "The body of the request. Its `model` defaults to the id of `tier`.",
    examples: [{ model: "openai/gpt-4o-mini", messages: [{ role: "user", content: "Hello" }] }],
  }),
});

/** `POST /api/admin/route/explain`: explains how a request of a key or account would be routed. */
export const explainRouteOf = defineEndpoint({
  method: "POST",
  path: "/api/admin/route/explain",
  tag: "Tiers",
  summary:
    "Explain how a request of a key or an account would be routed, also with a tier that is not stored",
  access: ACCOUNT_READERS,
  params: NOTHING,
  query: NOTHING,
  body: ExplainBody,
  response: z.object({
    data: RouteExplanation,
  }),
  errors: ["invalid_model", "context_length_exceeded", "insufficient_credits", "model_not_allowed"],
  changesNothing: true,
  async handle({ principal, body, deps }) {
    const { api, tier } = body;
    const caller = await findCaller(deps, principal, body);
    const request = tier === undefined ? body.request : { model: tier.id, ...body.request };
    const headers = new Headers(body.headers);
    const bytes = Buffer.from(JSON.stringify(request));
    const { request: parsed, preset } = await parseWithPreset(deps.generation, {
      ...{ api, body: bytes, principal: caller },
      parse: (body) => REQUEST_PARSERS[api](body, renameModels(deps), headers),
    });
    const generation = withTier(deps.generation, tier);
    const readHeader = (name: string) => headers.get(name);
    const call = { principal: caller, request: parsed, preset, readHeader };
    return { data: await explainRoute(generation, call) };
  },
});

type Named = Pick<z.infer<typeof ExplainBody>, "key_id" | "account_id">;

async function findCaller(
  { keyStores: { keys }, accountCache: accounts }: HttpDeps,
  principal: ManagementPrincipal,
  { key_id, account_id }: Named,
): Promise<AccountPrincipal> {
  const own = managedAccountOf(principal);
  if (key_id !== undefined)
    return principalOfKey({ keys, accounts }, key_id, (id) => own === null || own === id);
  const accountId = account_id ?? own ?? DEFAULT_ACCOUNT_ID;
  return principalOfAccount(accounts, requireOwnAccount(principal, accountId));
}

/** Returns the dependencies of a generation with a tier in place of the one in force. */
function withTier(generation: GenerationDeps, tier: TierRecord | undefined): GenerationDeps {
  if (tier === undefined) return generation;
  const serving = generation.serving();
  const { tiers } = serving;
  const find = (id: string) => (id.toLowerCase() === tier.id ? tier : tiers.find(id));
  return { ...generation, serving: () => ({ ...serving, tiers: { ...tiers, find } }) };
}
