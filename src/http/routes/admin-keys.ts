import { z } from "zod";
import { fail } from "../../base/errors.ts";
import { createKey, describeKey } from "../../core/accounts/manage-keys.ts";
import { defineEndpoint, NOTHING } from "../api/endpoint.ts";

const KeyView = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.enum(["inference", "management"]),
  hint: z.string(),
  account_id: z.string(),
  user_id: z.string().nullable(),
  spend_limit: z.number().nullable(),
  models: z.array(z.string()).nullable(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
  revoked_at: z.iso.datetime().nullable(),
});

/** `POST /api/admin/keys`: makes a key. The answer is the only place where its secret is shown. */
export const postKey = defineEndpoint({
  method: "POST",
  path: "/api/admin/keys",
  tag: "Keys",
  summary: "Make a key; the answer alone shows it",
  access: { kind: "operator" },
  params: NOTHING,
  query: NOTHING,
  body: z.strictObject({
    name: z.string().trim().min(1).max(200),
    kind: z.enum(["inference", "management"]).default("inference"),
    expires_at: z.iso.datetime({ offset: true }).nullish(),
  }),
  response: z.object({ key: z.string(), data: KeyView }),
  status: 201,
  async handle({ body, deps }) {
    const expiresAt = body.expires_at ? Date.parse(body.expires_at) : null;
    if (expiresAt !== null && expiresAt <= deps.clock.now()) {
      fail("invalid_request", "expires_at must lie in the future.", { metadata: { field: "expires_at" } });
    }
    const { secret, key } = await createKey(deps.keyMaker, { name: body.name, kind: body.kind, expiresAt });
    deps.keyRing.forget();
    return { key: secret, data: describeKey(key) };
  },
});

/** `GET /api/admin/keys`: all keys, newest first, without secrets. */
export const listKeys = defineEndpoint({
  method: "GET",
  path: "/api/admin/keys",
  tag: "Keys",
  summary: "All keys, newest first, without secrets",
  access: { kind: "operator" },
  params: NOTHING,
  query: NOTHING,
  body: NOTHING,
  response: z.object({ data: z.array(KeyView) }),
  async handle({ deps }) {
    return { data: (await deps.keyMaker.keys.listKeys()).map(describeKey) };
  },
});

/** `DELETE /api/admin/keys/{id}`: revokes a key; requests with it are refused from now on. */
export const deleteKey = defineEndpoint({
  method: "DELETE",
  path: "/api/admin/keys/:id",
  tag: "Keys",
  summary: "Revoke a key; requests with it are refused from now on",
  access: { kind: "operator" },
  params: z.object({ id: z.string() }),
  query: NOTHING,
  body: NOTHING,
  response: z.object({ data: KeyView }),
  async handle({ params, deps }) {
    const key = await deps.keyMaker.keys.revokeKey(params.id, deps.clock.now());
    deps.keyRing.forget();
    if (key === null)
      return fail("not_found", "There is no key with that id. GET /api/admin/keys lists them.");
    return { data: describeKey(key) };
  },
});
