import { z } from "zod";
import { IdInput } from "../../core/accounts/resource-fields.ts";
import { presentGenerationLine } from "../../core/usage/present-generation.ts";
import { OUTCOMES } from "../../core/usage/records.ts";
import { ACCOUNT_READERS, listedAccountOf } from "../api/access.ts";
import { defineEndpoint, NOTHING } from "../api/endpoint.ts";
import { PAGE_QUERY, pageView } from "../api/pages.ts";

const milliseconds = z.number().nullable();

const GenerationLine = z
  .object({
    id: z.string(),
    created_at: z.iso.datetime(),
    account_id: z.string().nullable().describe("Id of the account that pays. `null` for anonymous use."),
    key_id: z.string().nullable(),
    user_id: z.string().nullable().describe("Id of the key's user. `null` for a service key."),
    api: z.string().describe("Client API of the request, such as `chat.completions`."),
    requested_model: z.string(),
    model: z.string().nullable().describe("Id of the model that answered. `null` means none did."),
    provider_name: z.string().nullable(),
    streamed: z.boolean(),
    outcome: z.enum(OUTCOMES),
    status: z.int().nullable().describe("HTTP status of the response to the client."),
    error_type: z.string().nullable(),
    latency: milliseconds.describe("Time to first token, in milliseconds."),
    duration: milliseconds.describe("Time from the request to the end, in milliseconds."),
    attempts: z.int().describe("Number of calls to providers."),
    tokens_prompt: z.int(),
    tokens_completion: z.int(),
    total_cost: z.number().describe("US dollars charged to the account."),
    total_cost_nanodollars: z.int(),
    is_byok: z.boolean(),
  })
  .meta({ id: "GenerationLine", description: "A generation in a list." });

/** `GET /api/admin/generations`: generations, newest first. */
export const listGenerations = defineEndpoint({
  method: "GET",
  path: "/api/admin/generations",
  tag: "Usage",
  summary:
    "List generations, newest first: of all accounts for the operator, otherwise of the key's account. A page may be short, or empty, and have a `next`",
  access: ACCOUNT_READERS,
  params: NOTHING,
  query: z.strictObject({
    limit: PAGE_QUERY.limit,
    after: z
      .string()
      .regex(/^gen_\w{1,60}$/, "must be the `next` of a previous page")
      .optional()
      .describe("The `next` of the previous page."),
    account_id: IdInput.optional().describe("Only generations of this account."),
    key_id: IdInput.optional().describe("Only generations of this API key."),
    model: z.string().min(1).max(200).optional().describe("Only generations of the model with this id."),
    outcome: z.enum(OUTCOMES).optional().describe("Only generations with this outcome."),
  }),
  body: NOTHING,
  response: pageView(GenerationLine),
  async handle({ query, principal, deps }) {
    const accountId = listedAccountOf(principal, query.account_id);
    await deps.generation.recorder.drain();
    const page = await deps.usage.listGenerations({
      accountId,
      keyId: query.key_id ?? null,
      model: query.model ?? null,
      outcome: query.outcome ?? null,
      before: query.after ?? null,
      limit: query.limit,
    });
    return { data: page.records.map(presentGenerationLine), next: page.next };
  },
});
