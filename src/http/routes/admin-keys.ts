import { z } from "zod";
import { fail } from "../../base/errors.ts";
import { createKey, describeKey } from "../../core/accounts/manage-keys.ts";
import type { RequestContext } from "../context.ts";
import { requireKey } from "../middleware/identify-caller.ts";
import { readRequestBody } from "../middleware/read-body.ts";

const NewKeyBody = z.strictObject({
  name: z.string().trim().min(1).max(200),
  kind: z.enum(["inference", "management"]).default("inference"),
  expires_at: z.iso.datetime({ offset: true }).nullish(),
});

/** `POST /api/admin/keys`: makes a key. The answer is the only place where its secret is shown. */
export async function postKey(request: Request, context: RequestContext): Promise<Response> {
  await requireKey(request, context, "management");
  const body = parseBody(await readRequestBody(request, context));
  const expiresAt = body.expires_at ? Date.parse(body.expires_at) : null;
  if (expiresAt !== null && expiresAt <= context.deps.clock.now()) {
    fail("invalid_request", "expires_at must lie in the future.", { metadata: { field: "expires_at" } });
  }
  const { secret, key } = await createKey(context.deps.keyMaker, {
    name: body.name,
    kind: body.kind,
    expiresAt,
  });
  context.deps.keyRing.forget();
  return Response.json({ key: secret, data: describeKey(key) }, { status: 201 });
}

/** `GET /api/admin/keys`: all keys, newest first, without secrets. */
export async function listKeys(request: Request, context: RequestContext): Promise<Response> {
  await requireKey(request, context, "management");
  const keys = await context.deps.keyMaker.keys.listKeys();
  return Response.json({ data: keys.map(describeKey) });
}

/** `DELETE /api/admin/keys/{id}`: revokes a key; requests with it are refused from now on. */
export async function deleteKey(request: Request, context: RequestContext): Promise<Response> {
  await requireKey(request, context, "management");
  const key = await context.deps.keyMaker.keys.revokeKey(
    context.params["id"] ?? "",
    context.deps.clock.now(),
  );
  context.deps.keyRing.forget();
  if (key === null) return fail("not_found", "There is no key with that id. GET /api/admin/keys lists them.");
  return Response.json({ data: describeKey(key) });
}

function parseBody(bytes: Buffer): z.infer<typeof NewKeyBody> {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    return fail("invalid_request", 'The body is not valid JSON. Send {"name": "…"}.');
  }
  const parsed = NewKeyBody.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join(".") || "body";
  return fail("invalid_request", `${field}: ${issue?.message}.`, { metadata: { field } });
}
