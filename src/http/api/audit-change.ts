import { GatewayError, statusOf } from "../../base/failures/errors.ts";
import type { AuditDraft } from "../../core/audit/records.ts";
import type { StoreDeps } from "../context/store-deps.ts";

/** Who makes a change and how, as the audit log records it. */
export interface AuditSource extends Pick<AuditDraft, "action" | "keyId" | "userId" | "requestId"> {
  /** The account of the credentials; null for the operator. */
  readonly accountId: string | null;
}

/** A change that a request has made, as the audit log records it. */
export interface AuditDetails {
  /** The account that the change is about. Default: the account of the principal's key. */
  readonly accountId?: string | null;
  /** The id of what was changed. Default: the ids of the path. */
  readonly target?: string;
  /** The fields that were set, with their new values. No secrets. Default: the names of the body's fields, without values. */
  readonly changes?: Readonly<Record<string, unknown>>;
}

/** The input of a change. */
interface ChangingInput {
  readonly params: unknown;
  readonly body: unknown;
  readonly deps: Pick<StoreDeps, "resources" | "log" | "clock" | "generation">;
}

/** Replaces a value that may be a secret. */
const REDACTED = "(not kept)";

/**
 * Makes a change whose audit entry survives a crash: the entry is begun before the change is made. If it is neither committed nor aborted,
 * the next start completes it. Returns the result of `make`, and the id of the begun entry for `commitChange`.
 */
export async function makeChange<T>(
  source: AuditSource,
  input: ChangingInput,
  make: () => Promise<T> | T,
): Promise<{ readonly result: T; readonly entryId: number }> {
  const {
    resources: { audit },
    generation,
  } = input.deps;
  const entryId = await audit.beginChange(draftEntry(source, input, {}), generation.gatewayId);
  try {
    return { result: await make(), entryId };
  } catch (error) {
    // A rejected request has changed nothing. After any other error the outcome is unknown, so the entry stays begun.
    if (error instanceof GatewayError && statusOf(error.failure) < INTERNAL) await audit.abortChange(entryId);
    throw error;
  }
}

const INTERNAL = 500;

/**
 * Completes the begun entry of a change with its details, one entry for each. If the audit log cannot be written, the request fails and the
 * entries go to the process log.
 */
export async function commitChange(
  source: AuditSource,
  input: ChangingInput,
  { entryId, details }: { readonly entryId: number; readonly details: readonly AuditDetails[] },
): Promise<void> {
  const {
    resources: { audit },
    log,
  } = input.deps;
  const drafts = (details.length > 0 ? details : [{}]).map((one) => draftEntry(source, input, one));
  try {
    await audit.commitChange(entryId, drafts);
  } catch (error) {
    for (const draft of drafts) {
      log.error("a change has no entry in the audit log", { ...draft, detail: String(error) });
    }
    throw error;
  }
}

function draftEntry(
  { accountId, ...source }: AuditSource,
  { params, body, deps }: ChangingInput,
  details: AuditDetails,
): AuditDraft {
  return {
    ...source,
    at: deps.clock.now(),
    accountId: details.accountId ?? accountId,
    target: details.target ?? (Object.values(params as Record<string, string>).join("/") || null),
    changes: details.changes ?? withoutValues(body),
  };
}

function withoutValues(body: unknown): Record<string, string> {
  return Object.fromEntries(Object.keys(body as object).map((field) => [field, REDACTED]));
}
