import { GatewayError, statusOf } from "../../base/errors.ts";
import { type AnonymousPrincipal, credentialIdOf, type Principal } from "../../core/accounts/principal.ts";
import type { AuditDraft } from "../../core/audit/records.ts";
import type { HttpDeps } from "../context/context.ts";

/** The principals that can make changes. */
export type AuditedPrincipal = Exclude<Principal, AnonymousPrincipal>;

/** What a request has changed. */
export interface ChangeNote {
  /** The account that the change is about. Default: the account of the principal's key. */
  readonly accountId?: string | null;
  /** The id of what was changed. Default: the ids of the path. */
  readonly target?: string;
  /** The fields that were set, with their new values. No secrets. Default: the names of the body's fields, without values. */
  readonly changes?: Readonly<Record<string, unknown>>;
}

/** A request that makes a change. */
interface ChangingRequest {
  readonly principal: AuditedPrincipal;
  readonly params: unknown;
  readonly body: unknown;
  readonly deps: HttpDeps;
  readonly requestId: string;
}

/** Replaces a value that may be a secret. */
const REDACTED = "(not kept)";

interface Action {
  readonly method: string;
  readonly path: string;
}

/**
 * Makes a change whose audit entry survives a crash: it is announced before it is made, and an announcement that is neither
 * committed nor aborted becomes an entry at the next start. Returns the result of `make`, and the id of the announcement for
 * `writeAudit`.
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
    // A rejected request has changed nothing. After any other error the outcome is unknown: keep the announcement.
    if (error instanceof GatewayError && statusOf(error.failure) < INTERNAL)
      await audit.abortChange(announced);
    throw error;
  }
}

const INTERNAL = 500;

/**
 * Replaces the announcement of a change with its audit entries. If the audit log cannot be written, the request fails and the
 * entries go to the process log.
 */
export async function writeAudit(
  action: Action,
  request: ChangingRequest,
  { announced, notes }: { readonly announced: number; readonly notes: readonly ChangeNote[] },
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
  const key = principal.kind === "key" ? principal.key : null;
  return {
    at: deps.clock.now(),
    keyId: credentialIdOf(principal),
    userId: key?.userId ?? null,
    action: `${method} ${path}`,
    accountId: note.accountId ?? key?.accountId ?? null,
    target: note.target ?? (Object.values(params as Record<string, string>).join("/") || null),
    requestId,
    changes: note.changes ?? withoutValues(body),
  };
}

function withoutValues(body: unknown): Record<string, string> {
  return Object.fromEntries(Object.keys(body as object).map((field) => [field, REDACTED]));
}
