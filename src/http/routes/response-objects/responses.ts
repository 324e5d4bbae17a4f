import { rejectField } from "../../../base/failures/errors.ts";
import { pageOf, presentResponse } from "../../../core/response-objects/present-response.ts";
import type { RequestContext } from "../../context/context.ts";
import type { Routes } from "../../inference/api-routes.ts";
import { streamEvents, withCost } from "../../inference/start-job.ts";
import { readPageQuery, stateHandler } from "./state-handler.ts";

/** What clients do with responses that the gateway keeps, under every gateway prefix (docs/api/responses.md). */
export const RESPONSE_ROUTES: Routes = {
  "/responses/:id": {
    GET: stateHandler(async ({ caller, context, memory, param }) => {
      const { responses } = context.deps.features;
      const { head, content } = await responses.find({ caller, id: param("id"), memory });
      if (context.query.get("stream") === "true")
        return streamEvents(context, head, { after: readAfter(context), headers: {} });
      return Response.json(await withCost(context, presentResponse(head, content)));
    }),
    DELETE: stateHandler(async ({ caller, context, param }) => {
      const id = param("id");
      await context.deps.features.responses.delete(caller, id);
      return Response.json({ id, object: "response", deleted: true });
    }),
  },
  "/responses/:id/cancel": {
    POST: stateHandler(async ({ caller, context, memory, param }) => {
      const { responses } = context.deps.features;
      const id = param("id");
      await responses.jobs.cancel(caller, id);
      const { head, content } = await responses.find({ caller, id, memory });
      return Response.json(await withCost(context, presentResponse(head, content)));
    }),
  },
  "/responses/:id/input_items": {
    GET: stateHandler(async ({ caller, context, memory, param }) => {
      const query = readPageQuery(context);
      const { responses } = context.deps.features;
      const items = await responses.listInputItems({ caller, id: param("id"), memory });
      return Response.json(pageOf(items, query));
    }),
  },
};

/** Reads the number of the last event that a client has; -1 for none. @throws GatewayError `invalid_request`. */
function readAfter({ query }: RequestContext): number {
  const after = query.get("starting_after");
  if (after === null) return -1;
  const number = Number(after);
  return Number.isInteger(number) && number >= 0
    ? number
    : rejectField("starting_after", "must be the sequence_number of an event");
}
