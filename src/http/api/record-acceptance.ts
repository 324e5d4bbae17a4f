import type { AcceptedInvitation } from "../../core/console/accept-invitation.ts";
import type { RequestContext } from "../context/context.ts";

/** The endpoint at which every invitation is accepted, also one whose person then signs in at a provider. */
export const ACCEPT_PATH = "/api/console/invitations/accept";

/** What the audit log says about the acceptance of an invitation, besides its memberships. */
interface Acceptance {
  readonly accepted: AcceptedInvitation;
  /** The key of the session in which it was accepted; null if there was none. */
  readonly keyId: string | null;
  readonly createdUser: boolean;
}

/** Writes the audit entry of an accepted invitation. */
export async function recordAcceptance(
  { deps, requestId }: RequestContext,
  { accepted, keyId, createdUser }: Acceptance,
): Promise<void> {
  const { id, organizationId, userId, role, teams } = accepted;
  await deps.resources.audit.appendAudit({
    at: deps.clock.now(),
    keyId,
    userId,
    action: `POST ${ACCEPT_PATH}`,
    accountId: organizationId,
    target: id,
    requestId,
    changes: {
      accepted: true,
      ...(role !== null && { role }),
      ...(Object.keys(teams).length > 0 && { teams }),
      ...(createdUser && { created_user: true }),
    },
  });
}
