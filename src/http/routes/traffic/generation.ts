import { fail } from "../../../base/failures/errors.ts";
import { presentOwnGeneration } from "../../../core/usage/generations/present-generation.ts";
import type { RequestContext } from "../../context/context.ts";
import { urlOf } from "../../context/url-of.ts";
import { admit } from "../../middleware/admit.ts";

/** `GET generation?id=`: a generation, for keys of the account that made it and for its user. */
export async function getGeneration(request: Request, context: RequestContext): Promise<Response> {
  const { principal } = await admit(request, context, { kind: "inference_key" });
  const { key } = principal;
  const id = urlOf(request).searchParams.get("id");
  if (!id)
    return fail("invalid_request", "id is required: GET generation?id=gen_….", { metadata: { field: "id" } });
  const record = await context.deps.generation.recorder.find(id);
  const isOwn = record?.accountId === key.accountId || (key.userId !== null && record?.userId === key.userId);
  if (record === null || !isOwn) {
    return fail("not_found", "There is no generation with that id in this account.");
  }
  return Response.json({ data: presentOwnGeneration(record) });
}
