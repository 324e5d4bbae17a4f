import type { Log } from "../../base/failures/log.ts";
import type { Role } from "../accounts/records/rights.ts";
import type { AcceptedInvitation, InvitationParts } from "./accept-invitation.ts";
import type { IdentityStore } from "./identity-store.ts";
import type { OidcRule } from "./oidc-rules.ts";

/** The changes of a sign-in, successful or not, for the audit log. */
export interface SignInChanges {
  /** The user that the person is linked to; null if there is none, or the person is the operator. */
  userId: string | null;
  /** Whether the user was created. */
  createdUser: boolean;
  /** The user's new e-mail; null if it did not change. */
  email: string | null;
  /** The roles that the user got in organizations; null where the membership has ended. */
  readonly roles: Map<string, Role | null>;
  /** The teams that the user has joined, or in which the user's part has changed; null where the membership has ended. */
  readonly teams: Map<string, "lead" | "member" | null>;
  /** The invitation that the user has accepted; null for none. */
  invitation: AcceptedInvitation | null;
}

/** Returns no changes. */
export function noSignInChanges(): SignInChanges {
  return {
    userId: null,
    createdUser: false,
    email: null,
    roles: new Map(),
    teams: new Map(),
    invitation: null,
  };
}

/** The dependencies of a sign-in of an identity. */
export interface IdentitySignIn extends InvitationParts {
  readonly identities: IdentityStore;
  readonly rules: readonly OidcRule[];
  readonly log: Pick<Log, "warn">;
  /** Whether a person without a user gets one, if a rule grants a role. */
  readonly createsUsers: boolean;
}
