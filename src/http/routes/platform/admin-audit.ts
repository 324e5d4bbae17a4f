import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import { formatTime } from "../../../base/time/time.ts";
import { IdInput } from "../../../core/accounts/fields/resource-fields.ts";
import { type AuditQuery, MAX_ACTIONS } from "../../../core/audit/audit-store.ts";
import type { AuditEntry } from "../../../core/audit/records.ts";
import { presentVerdict, verifyAudit } from "../../../core/audit/verify-audit.ts";
import { listedAccountOf, managedAccountOf, needs, OPERATOR } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { makePage, PAGE_QUERY, pageView } from "../../api/pages.ts";
import type { StoreDeps } from "../../context/store-deps.ts";

const AuditEntryView = z
  .object({
    place: z.number().int().describe("Position of the entry in the log, from 1."),
    at: z.iso.datetime(),
    key_id: z
      .string()
      .nullable()
      .describe("Id of the key that made the change. `null` means a command of the operator."),
    user_id: z
      .string()
      .nullable()
      .describe("Id of the key's user. `null` for the operator and for service keys."),
    action: z
      .string()
      .describe("The request or command, such as `PATCH /api/admin/users/:id` or `gateway users close`."),
    account_id: z
      .string()
      .nullable()
      .describe("Id of the account that the change is about. `null` means the gateway as a whole."),
    target: z.string().nullable().describe("Id of the changed resource."),
    request_id: z.string().nullable(),
    changes: z
      .record(z.string(), z.unknown())
      .describe(
        "The fields that were set, with their values; or `before` and `after` with the former and the new values of the fields. Contains no secrets.",
      ),
    previous_hash: z.string().describe("Hash of the previous entry."),
    hash: z.string().describe("SHA-256 of all other fields of the entry, in hex."),
  })
  .meta({ id: "AuditEntry", description: "An entry of the audit log: a change and who made it." });

const TIME = z.iso.datetime({ offset: true }).optional();

/** `GET /api/admin/audit`: the entries of the audit log, newest first. */
export const listAudit = defineEndpoint({
  method: "GET",
  path: "/api/admin/audit",
  tag: "Audit",
  summary: "List the entries of the audit log, newest first",
  access: needs("inspect"),
  query: z.strictObject({
    ...PAGE_QUERY,
    after: z.coerce.number().int().min(1).optional().describe("The `next` of the previous page."),
    account_id: IdInput.optional().describe("Only entries about this account."),
    from: TIME.describe("Only changes at or after this time (RFC 3339)."),
    to: TIME.describe("Only changes before this time (RFC 3339)."),
    actor: IdInput.optional().describe(
      "Only changes by this user (`user_…`) or key (`key_…`), or by commands of the operator (`command`).",
    ),
    action: z
      .string()
      .min(1)
      .max(2_000)
      .optional()
      .meta({
        description: `Only these requests and commands: at most ${MAX_ACTIONS}, separated by commas, as in \`action\` of an entry.`,
        examples: ["PATCH /api/admin/keys/:id,gateway keys update"],
      }),
    target: z
      .string()
      .min(1)
      .max(400)
      .optional()
      .describe(
        "Only changes of the resource with this id. That of a member is `org_…/user_…`; that of a stored route is its name.",
      ),
  }),
  response: pageView(AuditEntryView).extend({
    names: z
      .record(z.string(), z.string())
      .describe("Names of the keys, accounts, users and teams that the entries are about, by their ids."),
  }),
  async handle({ principal, query, deps }) {
    const filter = readFilter(query, listedAccountOf(principal, query.account_id));
    let names: Readonly<Record<string, string>> = {};
    const page = await makePage({
      limit: query.limit,
      load: (limit) => deps.resources.audit.listAudit({ ...filter, limit }),
      async present(entries) {
        names = await findEntryNames(deps, managedAccountOf(principal), entries);
        return entries.map(presentEntry);
      },
      cursorOf: ({ place }) => String(place),
    });
    return { ...page, names };
  },
});

/** Returns the names of everything that entries refer to. An account does not see the names of keys of others, such as the operator's. */
async function findEntryNames(
  { resources }: StoreDeps,
  accountId: string | null,
  entries: readonly AuditEntry[],
): Promise<Readonly<Record<string, string>>> {
  const { accounts, keys, teams } = resources.keyStores;
  const ids = new Set(
    entries.flatMap((one) => [one.keyId, one.userId, one.accountId, ...(one.target?.split("/") ?? [])]),
  );
  const idsOf = (...prefixes: readonly string[]) =>
    [...ids].filter((id) => id !== null && prefixes.some((prefix) => id.startsWith(prefix))) as string[];
  const [ofKeys, ofAccounts, ofTeams] = await Promise.all([
    keys.findKeyNames(idsOf("key_"), accountId ?? undefined),
    accounts.findAccountNames(idsOf("user_", "org_", "acct_")),
    teams.findTeamNames(idsOf("team_")),
  ]);
  return Object.fromEntries([...ofKeys, ...ofAccounts, ...ofTeams]);
}

/** The filters of a query, before they are read. */
interface FilterQuery {
  readonly after?: number | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
}

/** @throws GatewayError `invalid_request` for times in the wrong order, and for too many actions. */
function readFilter(query: FilterQuery, accountId: string | null): Omit<AuditQuery, "limit"> {
  const { from, to, actor, target, after } = query;
  const times = [from, to].map((time) => (time === undefined ? null : Date.parse(time)));
  const [fromMs = null, toMs = null] = times;
  if (fromMs !== null && toMs !== null && fromMs >= toMs) reject("from", "from must be before to.");
  const actions = query.action?.split(",").map((action) => action.trim());
  if (actions !== undefined && actions.length > MAX_ACTIONS)
    reject("action", `action must not have more than ${MAX_ACTIONS} entries.`);
  return {
    accountId,
    actor: actor === "command" ? null : actor,
    actions,
    target,
    from: fromMs,
    to: toMs,
    after,
  };
}

function reject(field: string, message: string): never {
  return fail("invalid_request", message, { metadata: { field } });
}

/** `GET /api/admin/audit/verify`: whether the hash chain of the log is intact. */
export const getAuditVerdict = defineEndpoint({
  method: "GET",
  path: "/api/admin/audit/verify",
  tag: "Audit",
  summary: "Verify the hash chain of the audit log",
  access: OPERATOR,
  response: z.object({
    data: z.object({
      holds: z.boolean().describe("Whether all entries are unchanged."),
      entries: z
        .number()
        .int()
        .describe("Number of valid entries: all of them, or those before the first invalid one."),
      last_hash: z
        .string()
        .describe(
          "Hash of the last valid entry. Store it elsewhere, to detect later whether the end of the log was removed.",
        ),
      broken_at: z
        .number()
        .int()
        .nullable()
        .describe("Position of the first invalid entry. `null` means there is none."),
      problem: z.string().nullable().describe("What is wrong with the first invalid entry."),
    }),
  }),
  async handle({ deps }) {
    return { data: presentVerdict(await verifyAudit(deps.resources.audit)) };
  },
});

/** Returns an entry as the management API and the command show it. */
function presentEntry(entry: AuditEntry): Record<string, unknown> {
  return {
    place: entry.place,
    at: formatTime(entry.at),
    key_id: entry.keyId,
    user_id: entry.userId,
    action: entry.action,
    account_id: entry.accountId,
    target: entry.target,
    request_id: entry.requestId,
    changes: entry.changes,
    previous_hash: entry.previousHash,
    hash: entry.hash,
  };
}
