import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import { IdInput } from "../../../core/accounts/fields/resource-fields.ts";
import type { OpenedEntry } from "../../../core/extensions/prompt-log/prompt-log.ts";
import { managedAccountOf, needs } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";

/** `GET /api/admin/generations/{id}/bodies`: the stored bodies of a generation (docs/prompt-log.md). */
export const getPromptLogEntry = defineEndpoint({
  method: "GET",
  path: "/api/admin/generations/:id/bodies",
  tag: "Prompt log",
  summary: "Retrieve the stored request and response bodies of a generation",
  access: needs("inspect"),
  audited: true,
  params: z.object({ id: IdInput.describe("Id of the generation.") }),
  response: z.object({
    data: z.object({
      id: z.string().describe("Id of the generation."),
      account_id: z.string().describe("Id of the account that paid for the generation."),
      key_id: z.string().describe("Id of the API key that made the request."),
      created_at: z.iso.datetime(),
      expires_at: z.iso.datetime().describe("Time at which the bodies are deleted (RFC 3339)."),
      request: z.string().describe("The request body as it was received."),
      request_truncated: z.boolean().describe("Whether only the beginning of the request is stored."),
      response: z
        .string()
        .nullable()
        .describe(
          "The response body as it was sent: JSON, or server-sent events for a stream. `null` means the generation ended without a response.",
        ),
      response_truncated: z.boolean().describe("Whether only the beginning of the response is stored."),
    }),
  }),
  async handle({ principal, params, deps, audit }) {
    const entry = await deps.reports.promptLog.find(params.id);
    const managed = managedAccountOf(principal);
    if (entry === null || (managed !== null && managed !== entry.accountId))
      return fail("not_found", "There is no prompt log entry for that generation, or it has expired.");
    audit({ accountId: entry.accountId });
    return { data: presentPromptLogEntry(entry) };
  },
});

/** An entry as the management API and the command show it. */
function presentPromptLogEntry(entry: OpenedEntry): Record<string, unknown> {
  const { bodies } = entry;
  return {
    id: entry.id,
    account_id: entry.accountId,
    key_id: entry.keyId,
    created_at: new Date(entry.createdAt).toISOString(),
    expires_at: new Date(entry.expiresAt).toISOString(),
    request: bodies.request,
    request_truncated: bodies.requestTruncated,
    response: bodies.response,
    response_truncated: bodies.responseTruncated,
  };
}
