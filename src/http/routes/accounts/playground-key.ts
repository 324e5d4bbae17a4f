import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import { toDollars } from "../../../base/numbers/money.ts";
import { IdInput } from "../../../core/accounts/fields/resource-fields.ts";
import { issueKey } from "../../../core/accounts/manage/manage-keys.ts";
import { credentialIdOf } from "../../../core/accounts/records/principal.ts";
import { DEFAULT_ACCOUNT_ID } from "../../../core/accounts/records/records.ts";
import { managedAccountOf, needs, requireOwnAccount } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import type { PlaygroundKeys } from "../../context/console-deps.ts";

/** `POST /api/console/playground-key`: creates an inference key for the playground, because management keys call no models. */
export const postPlaygroundKey = defineEndpoint({
  method: "POST",
  path: "/api/console/playground-key",
  tag: "Console",
  summary: "Create a short-lived inference key with a spending limit for the playground",
  needs: "gateway",
  access: needs("call"),
  body: z.strictObject({
    account_id: IdInput.optional().describe(
      "Id of the account that pays. Default: the caller's own account. Only the operator may name another.",
    ),
  }),
  response: z.object({
    key: z.string().describe("The secret of the key. It is not stored and cannot be retrieved again."),
    expires_at: z.iso.datetime(),
    limit: z.number().describe("US dollars that may be spent with the key (`console.playground_limit`)."),
  }),
  status: 201,
  respondsWithSecret: true,
  async handle({ principal, body, deps, audit }) {
    const { playground } =
      deps.browser.console ?? fail("not_found", "The console is disabled (console.enabled).");
    const own = managedAccountOf(principal) ?? DEFAULT_ACCOUNT_ID;
    const accountId = requireOwnAccount(principal, body.account_id ?? own);
    countKey(playground, credentialIdOf(principal));
    const expiresAt = deps.clock.now() + playground.lifetimeMs;
    const { secret, key } = await issueKey(deps.resources.keyStores, deps.generation.serving, {
      name: "playground",
      kind: "inference",
      accountId,
      // A member's spending counts for the member's limits.
      userId: principal.kind === "operator" ? null : principal.key.userId,
      spendLimit: playground.limit,
      expiresAt,
    });
    deps.callers.keyCache.changed(key);
    const limit = toDollars(playground.limit);
    audit({ accountId, target: key.id, changes: { name: key.name, spend_limit: limit } });
    return { key: secret, expires_at: new Date(expiresAt).toISOString(), limit };
  },
});

/** Keys are stored for ever, so a page that asks for them in a loop must not create them without bound. */
function countKey({ created }: PlaygroundKeys, credentialId: string): void {
  const retryAfterS = created.take(credentialId);
  if (retryAfterS === null) return;
  fail("rate_limit_exceeded", `Too many playground keys were created. Wait ${retryAfterS} s.`, {
    retryAfterS,
    metadata: { limit_source: "playground_keys" },
  });
}
