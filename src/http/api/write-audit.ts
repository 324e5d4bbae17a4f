import { GatewayError, statusOf } from "../../base/errors.ts";
import type { AuditDraft } from "../../core/audit/records.ts";
import type { HttpDeps } from "../context/context.ts";
import type { ApiPrincipal } from "./api-principal.ts";

/** What a request has changed. */
export interface ChangeNote {
  /** Whose account it concerns; left out: the caller's. */
  readonly accountId?: string | null;
  /** The id of what was changed; left out: the ids of the path. */
  readonly target?: string;
  /** The fields that were set, with their new values. No secrets. Left out: the body's fields, without values. */
  readonly changes?: Readonly<Record<string, unknown>>;
}

/** The request that a change was made by. */
interface ChangingRequest {
  readonly principal: ApiPrincipal;
  readonly params: unknown;
  readonly body: unknown;
  readonly deps: HttpDeps;
  readonly requestId: string;
}

/** Stands for a value that the log was not told: it may be a secret. */
const NOT_TOLD = "(not kept)";

interface Action {
  readonly method: string;
  readonly path: string;
}

/**
 * Makes a change whose entry in the audit log cannot be lost: it is announced before, and what a crash or a fault leaves
 * announced is an entry after the next start. Gives what `make` gives, and the announcement for `writeAudit`.
 */
export async function announceAndMake<T>(
  action: Action,
  request: ChangingRequest,
  make: () => Promise<T> | T,
): Promise<{ readonly made: T; readonly announced: number }> {
  const { audit } = request.deps;
  const announced = await audit.beginChange(draftEntry(action, request, {}));
  try {
    return { made: await make(), announced };
  } catch (error) {
    // Refused, so nothing was changed. Whatever else went wrong, nobody knows.
    if (error instanceof GatewayError && statusOf(error.failure) < INTERNAL)
      await audit.abortChange(announced);
    throw error;
  }
}

const INTERNAL = 500;

/**
 * Writes what was changed to the audit log, in place of its announcement. A log that cannot be written fails the request,
 * and the operator's own log has the entries.
 */
export async function writeAudit(
  action: Action,
  request: ChangingRequest,
  announced: number,
  notes: readonly ChangeNote[],
): Promise<void> {
  const { audit, log } = request.deps;
  const drafts = (notes.length > 0 ? notes : [{}]).map((note) => draftEntry(action, request, note));
  try {
    await audit.commitChange(announced, drafts);
  } catch (error) {
    for (const draft of drafts) {
      log.error("a change has no entry in the audit log", { ...draft, detail: String(error) });
    }
    throw error;
  }
}

function draftEntry(
  { method, path }: Action,
  { principal, params, body, deps, requestId }: ChangingRequest,
  note: ChangeNote,
): AuditDraft {
  return {
    at: deps.clock.now(),
    keyId: principal.key.id,
    userId: principal.key.userId,
    action: `${method} ${path}`,
    accountId: note.accountId ?? principal.accountId,
    target: note.target ?? (Object.values(params as Record<string, string>).join("/") || null),
    requestId,
    changes: note.changes ?? withoutValues(body),
  };
}

function withoutValues(body: unknown): Record<string, string> {
  return Object.fromEntries(Object.keys(body as object).map((field) => [field, NOT_TOLD]));
}
