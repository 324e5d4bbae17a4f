import type { HttpDeps } from "../context.ts";
import type { ApiCaller } from "./api-caller.ts";

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
  readonly caller: ApiCaller;
  readonly params: unknown;
  readonly body: unknown;
  readonly deps: HttpDeps;
  readonly requestId: string;
}

/** Stands for a value that the log was not told: it may be a secret. */
const NOT_TOLD = "(not kept)";

/**
 * Writes what was changed to the audit log, right behind the change. A log that cannot be written fails the request, and
 * the operator's own log has the entry.
 */
export async function writeAudit(
  { method, path }: { readonly method: string; readonly path: string },
  { caller, params, body, deps, requestId }: ChangingRequest,
  notes: readonly ChangeNote[],
): Promise<void> {
  for (const note of notes.length > 0 ? notes : [{}]) {
    const draft = {
      at: deps.clock.now(),
      keyId: caller.key.id,
      userId: caller.key.userId,
      action: `${method} ${path}`,
      accountId: note.accountId ?? caller.accountId,
      target: note.target ?? (Object.values(params as Record<string, string>).join("/") || null),
      requestId,
      changes: note.changes ?? withoutValues(body),
    };
    try {
      await deps.audit.appendAudit(draft);
    } catch (error) {
      deps.log.error("a change has no entry in the audit log", { ...draft, detail: String(error) });
      throw error;
    }
  }
}

function withoutValues(body: unknown): Record<string, string> {
  return Object.fromEntries(Object.keys(body as object).map((field) => [field, NOT_TOLD]));
}
