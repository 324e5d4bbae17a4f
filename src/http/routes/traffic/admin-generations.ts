import { z } from "zod";
import { findNames } from "../../../core/accounts/stores/find-names.ts";
import {
  type GenerationFilter,
  type GenerationPage,
  matchesFilter,
} from "../../../core/usage/generations/generation-list.ts";
import { presentGenerationLine } from "../../../core/usage/generations/present-generation.ts";
import { needs } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { findGeneration } from "../../api/find-generation.ts";
import { GENERATION_FILTER, GenerationId, readGenerationFilter } from "../../api/generation-filter.ts";
import { GenerationLine } from "../../api/generation-view.ts";
import { PAGE_QUERY, pageView } from "../../api/pages.ts";
import type { StoreDeps } from "../../context/store-deps.ts";

/** `GET /api/admin/generations`: generations, newest first. */
export const listGenerations = defineEndpoint({
  method: "GET",
  path: "/api/admin/generations",
  tag: "Usage",
  summary:
    "List generations, newest first: of all accounts for the operator, otherwise of the key's account. A page may be short, or empty, and have a `next`",
  access: needs("own"),
  query: z.strictObject({
    limit: PAGE_QUERY.limit,
    after: z
      .string()
      .regex(/^gen_\w{1,60}$/, "must be the `next` of a previous page")
      .optional()
      .describe("The `next` of the previous page."),
    ...GENERATION_FILTER,
    id: GenerationId.optional().describe(
      "Only the generation with this id (`gen_…`), or of the request with this id (`req_…`, the response header `x-request-id`).",
    ),
  }),
  response: pageView(GenerationLine),
  async handle({ query, principal, deps }) {
    const filter = readGenerationFilter(query, principal, deps.generation);
    const { records, next } =
      query.id === undefined
        ? await readPage(deps, filter, { before: query.after ?? null, limit: query.limit })
        : await findPage(deps, filter, query.id);
    const names = await findNames(deps.resources.keyStores, records);
    return { data: records.map((record) => presentGenerationLine(record, names)), next };
  },
});

async function readPage(
  { generation, reports: { usage } }: StoreDeps,
  filter: GenerationFilter,
  page: { readonly before: string | null; readonly limit: number },
): Promise<GenerationPage> {
  await generation.recorder.drain();
  return usage.listGenerations({ ...filter, ...page });
}

/** Returns the generation with an id, if it also matches the other filters. */
async function findPage(deps: StoreDeps, filter: GenerationFilter, id: string): Promise<GenerationPage> {
  const record = await findGeneration(deps, id);
  return { records: record !== null && matchesFilter(record, filter) ? [record] : [], next: null };
}
