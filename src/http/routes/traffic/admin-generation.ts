import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import type { ManagementPrincipal } from "../../../core/accounts/records/principal.ts";
import { findNames } from "../../../core/accounts/stores/find-names.ts";
import {
  findTransfersOf,
  presentGenerationDetails,
} from "../../../core/ledger/records/present-generation-details.ts";
import type { Rejection } from "../../../core/usage/rejections/rejection.ts";
import { mayRead, needs } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { findGeneration } from "../../api/find-generation.ts";
import { GenerationId } from "../../api/generation-filter.ts";
import { GenerationDetails } from "../../api/generation-view.ts";

/** `GET /api/admin/generations/{id}`: one generation with its caller and ledger entries. */
export const getGenerationDetails = defineEndpoint({
  method: "GET",
  path: "/api/admin/generations/:id",
  tag: "Usage",
  summary: "Retrieve a generation: route, attempts, cost, caller and ledger entries",
  access: needs("own"),
  params: z.object({
    id: GenerationId.describe("Id of the generation (`gen_…`) or of its request (`req_…`)."),
  }),
  response: z.object({ data: GenerationDetails }),
  async handle({ params, principal, deps }) {
    const record = await findGeneration(deps, params.id);
    if (record === null || !mayRead(principal, record))
      return rejectUnknown(principal, await deps.reports.rejections.find(params.id));
    await deps.generation.recorder.drain();
    const facts = {
      names: await findNames(deps.resources.keyStores, [record]),
      transfers: await findTransfersOf(deps.resources.credits.store, record.id),
      hasBodies: await deps.reports.promptLog.has(record.id),
      hasResponse: (await deps.resources.responses.find(record.id)) !== null,
      isForOperator: principal.kind === "operator",
    };
    return { data: presentGenerationDetails(record, facts) };
  },
});

/** Explains why a request has no generation, to those who may know. */
function rejectUnknown(principal: ManagementPrincipal, rejection: Rejection | null): never {
  if (rejection === null || !mayRead(principal, rejection))
    return fail("not_found", "There is no generation with that id.");
  const { id, status, code } = rejection;
  return fail(
    "not_found",
    `The request was rejected with ${status} ${code} before it became a generation. GET /api/admin/rejections/${id} says why.`,
    { metadata: { rejection: id } },
  );
}
