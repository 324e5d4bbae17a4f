import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import { findNames } from "../../../core/accounts/stores/find-names.ts";
import { presentRejection } from "../../../core/usage/rejections/present-rejection.ts";
import type { Rejection } from "../../../core/usage/rejections/rejection.ts";
import { mayRead, needs } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { makePage, PAGE_QUERY, pageView } from "../../api/pages.ts";
import { REJECTION_FILTER, readRejectionFilter } from "../../api/rejection-filter.ts";
import { RejectionView } from "../../api/rejection-view.ts";
import type { StoreDeps } from "../../context/store-deps.ts";

/** The id of a request. */
const RequestId = z.string().regex(/^req_\w{1,60}$/, "must be the id of a request, req_…");

/** `GET /api/admin/rejections`: requests that were rejected before they became generations, newest first. */
export const listRejections = defineEndpoint({
  method: "GET",
  path: "/api/admin/rejections",
  tag: "Usage",
  summary:
    "List rejected requests, newest first: of all callers for the operator, otherwise of the key's account",
  access: needs("own"),
  query: z.strictObject({
    limit: PAGE_QUERY.limit,
    after: RequestId.optional().describe("The `next` of the previous page."),
    ...REJECTION_FILTER,
  }),
  response: pageView(RejectionView),
  handle: ({ query, principal, deps }) => {
    const filter = readRejectionFilter(query, principal);
    return makePage<Rejection>({
      limit: query.limit,
      load: (limit) => deps.reports.rejections.list({ ...filter, before: query.after ?? null, limit }),
      present: (rows) => presentAll(deps, rows),
      cursorOf: ({ id }) => id,
    });
  },
});

/** `GET /api/admin/rejections/{id}`: why one request was rejected, and what to do. */
export const getRejection = defineEndpoint({
  method: "GET",
  path: "/api/admin/rejections/:id",
  tag: "Usage",
  summary: "Retrieve a rejected request: its caller, the reason, and what to do",
  access: needs("own"),
  params: z.object({
    id: RequestId.describe("Id of the request, as in the response header `x-request-id`."),
  }),
  response: z.object({ data: RejectionView }),
  async handle({ params, principal, deps }) {
    const rejection = await deps.reports.rejections.find(params.id);
    if (rejection === null || !mayRead(principal, rejection)) return fail("not_found", NOT_FOUND);
    const [data] = await presentAll(deps, [rejection]);
    return { data };
  },
});

const NOT_FOUND =
  "There is no rejected request with that id. Rejected requests are kept for storage.rejected_days; many of one caller are counted together, under the id of the last one.";

async function presentAll({ resources }: StoreDeps, rows: readonly Rejection[]) {
  const names = await findNames(resources.keyStores, rows);
  return rows.map((row) => presentRejection(row, names));
}
