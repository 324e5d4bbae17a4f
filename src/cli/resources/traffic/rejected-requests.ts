import { InvalidArgumentError } from "commander";
import { CLIENT_FAMILIES } from "../../../core/usage/clients/client-family.ts";
import { getRejection, listRejections } from "../../../http/routes/traffic/admin-rejections.ts";
import { type Caller, type EndpointInput, findOne, listRows } from "../../callers/caller.ts";
import type { CommandRun, OptionSpec } from "../../endpoint/command-spec.ts";
import { printText, tableOf } from "../../render/columns.ts";

/** The options of `gateway requests list` that are about rejected requests. */
export const REJECTED_OPTIONS: readonly OptionSpec[] = [
  {
    flags: "--rejected",
    help: "Requests that were rejected before a provider was chosen, instead of those that became generations",
    field: null,
  },
  {
    flags: "--client <family>",
    help: "With --rejected: only requests of this family of clients, such as claude-code",
    field: "query.client",
    read: readFamily,
  },
  {
    flags: "--status <status>",
    help: "With --rejected: only requests with this HTTP status",
    field: "query.status",
  },
  {
    flags: "--fingerprint <fingerprint>",
    help: "With --rejected: only requests with the unknown key of this fingerprint (kf_…)",
    field: "query.key_fingerprint",
  },
];

/** The fields of the query that rejected requests have, and those that only they have. */
const FIELDS = Object.keys(listRejections.query.shape);
const OWN_FIELDS = ["client", "status", "key_fingerprint"];

/**
 * Lists rejected requests. `input` is that of a list of generations.
 * @throws Error for a filter that rejected requests do not have.
 */
export function listRejected(
  { query }: EndpointInput,
  { caller, options }: Pick<CommandRun, "caller" | "options">,
): Promise<readonly unknown[]> {
  const other = Object.keys(query).find((name) => !FIELDS.includes(name));
  if (other !== undefined)
    throw new Error(
      `Rejected requests have no ${other}: no provider was chosen. Omit --${other.replace("_id", "")}.`,
    );
  return listRows(caller, listRejections, { query, limit: Number(options["limit"]) });
}

/** @throws Error for a filter that only rejected requests have. */
export function rejectOwnOptions({ query }: EndpointInput): void {
  const own = OWN_FIELDS.find((name) => query[name] !== undefined);
  if (own !== undefined) throw new Error(`--${own.replace("key_", "")} needs --rejected.`);
}

/** Returns the rejected request with an id; null if there is none. */
export async function findRejected(caller: Caller, id: string): Promise<unknown> {
  return id.startsWith("req_") ? findOne(caller, getRejection, { id }) : null;
}

/** Formats rejected requests as a table. */
export const showRejected = tableOf(
  [
    ["request", "id"],
    "created_at",
    "status",
    ["error", "error_type"],
    ["count", "count"],
    ["key", "key_name", (name, row) => printText(name ?? row["key_id"] ?? row["key_fingerprint"])],
    ["model", "requested_model"],
    ["client", "client", (client, row) => [client, row["client_version"]].filter(Boolean).join(" ")],
    ["field or limit", "field", (field, row) => printText(field ?? row["limit_source"])],
  ],
  "No rejected requests.",
);

/** @throws InvalidArgumentError for an unknown family; it lists the known ones. */
function readFamily(text: string): string {
  if (CLIENT_FAMILIES.some((family) => family === text)) return text;
  throw new InvalidArgumentError(`It must be one of ${CLIENT_FAMILIES.join(", ")}.`);
}
