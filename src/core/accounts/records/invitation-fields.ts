import { z } from "zod";
import { formatTime } from "../../../base/time/time.ts";
import { IdInput } from "../fields/resource-fields.ts";
import { EmailInput } from "./account-fields.ts";
import { INVITATION_STATES, type InvitationRecord, stateOfInvitation } from "./invitation-records.ts";
import { ROLES } from "./rights.ts";

/** The maximum number of teams of an invitation. */
const MAX_TEAMS_OF_INVITATION = 20;
/** How long an invitation is valid. Hours. */
const VALID_HOURS = { default: 72, max: 720 };

/** The body of a request that invites a person. */
export const InvitationBody = z.strictObject({
  role: z
    .enum(ROLES)
    .default("member")
    .meta({ description: "Role of the person in the organization.", examples: ["member"] }),
  teams: z
    .array(
      z.strictObject({
        id: IdInput,
        is_lead: z.boolean().default(false).describe("Whether the person leads the team."),
      }),
    )
    .max(MAX_TEAMS_OF_INVITATION)
    .default([])
    .describe("Teams that the person joins."),
  email: EmailInput.nullable()
    .default(null)
    .meta({
      description:
        "E-mail address of the person. With OpenID Connect, the provider must have verified it; a user who is signed in must have it; a new user gets it. `null`: anyone with the link may accept.",
      examples: ["ada@example.com"],
    }),
  expires_in_hours: z
    .int()
    .min(1)
    .max(VALID_HOURS.max)
    .default(VALID_HOURS.default)
    .describe("Hours for which the link is valid."),
});

/** A team of an invitation in a response. */
export const InvitedTeamView = z.object({
  id: z.string(),
  name: z.string().nullable().describe("Display name. `null` if the team is deleted."),
  is_lead: z.boolean(),
});

/** An invitation in a response. */
export const InvitationView = z
  .object({
    id: z.string().describe("Id of the invitation, `inv_…`."),
    organization_id: z.string().describe("Id of the organization."),
    role: z.enum(ROLES).describe("Role that the person gets."),
    teams: z.array(InvitedTeamView).describe("Teams that the person joins."),
    email: z
      .string()
      .nullable()
      .describe("E-mail address of the person for whom the invitation is. `null`: anyone with the link."),
    state: z
      .enum(INVITATION_STATES)
      .describe("`open` until it is accepted or withdrawn, or its time is over (`expired`)."),
    created_at: z.iso.datetime().describe("Time of the invitation (RFC 3339)."),
    expires_at: z.iso.datetime().describe("Time until which the link is valid (RFC 3339)."),
    ended_at: z.iso
      .datetime()
      .nullable()
      .describe("Time at which it was accepted or withdrawn (RFC 3339). `null` if it was neither."),
    invited_by: z
      .string()
      .nullable()
      .describe("Id of the user who has invited. `null` for the operator and for a service key."),
    invited_by_name: z.string().nullable().describe("Display name of that user."),
    accepted_by: z.string().nullable().describe("Id of the user who has accepted. `null` if none has."),
    accepted_by_name: z.string().nullable().describe("Display name of that user."),
  })
  .meta({ id: "Invitation", description: "An invitation to an organization by a link that works once." });

/** What a response about invitations shows besides their records. */
interface Shown {
  /** The names of users and teams, by their ids. */
  readonly names: ReadonlyMap<string, string>;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Returns an invitation as the management API and the commands show it. */
export function presentInvitation(
  invitation: InvitationRecord,
  { names, now }: Shown,
): z.infer<typeof InvitationView> {
  const { id, organizationId, role, email, createdBy, userId } = invitation;
  const nameOf = (user: string | null) => (user === null ? null : (names.get(user) ?? null));
  return {
    ...{ id, organization_id: organizationId, role, email },
    teams: presentInvitedTeams(invitation, names),
    state: stateOfInvitation(invitation, now),
    created_at: formatTime(invitation.createdAt),
    expires_at: formatTime(invitation.expiresAt),
    ended_at: formatTime(invitation.endedAt),
    invited_by: createdBy,
    invited_by_name: nameOf(createdBy),
    accepted_by: userId,
    accepted_by_name: nameOf(userId),
  };
}

/** Returns the teams of an invitation as responses show them. */
export function presentInvitedTeams(
  { teams }: Pick<InvitationRecord, "teams">,
  names: ReadonlyMap<string, string>,
): z.infer<typeof InvitedTeamView>[] {
  return teams.map(({ id, isLead }) => ({ id, name: names.get(id) ?? null, is_lead: isLead }));
}
