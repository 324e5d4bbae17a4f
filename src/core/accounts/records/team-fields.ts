import { z } from "zod";
import { NAME_FORMAT } from "../fields/field-option.ts";
import { cacheField, promptLogField, tagsField } from "../fields/kept-fields.ts";
import { rateLimitField } from "../fields/rate-limit-fields.ts";
import {
  NameInput,
  nullableTimeField,
  plainField,
  presentFields,
  settableField,
  timeField,
  viewShape,
} from "../fields/resource-fields.ts";
import { POLICY_FIELD } from "./account-fields.ts";
import { MEMBER_SOURCES, type TeamMemberRecord, type TeamRecord } from "./records.ts";

/** The fields that requests can set of a team. */
export const TEAM_SETTINGS = {
  name: settableField(
    { view: z.string(), input: NameInput.meta({ examples: ["Search"] }) },
    "Display name, unique among the teams of the organization regardless of case.",
    { flags: "--name <name>", help: "Display name of the team", ...NAME_FORMAT },
  ),
  policy: POLICY_FIELD,
  rate_limit: rateLimitField(
    "Rate limit of all keys of the team together, beside that of the organization. `null` removes it.",
  ),
  prompt_log: promptLogField(
    "for keys of the team without a value of their own. `null`: as the organization says.",
  ),
  cache: cacheField("for keys of the team without a value of their own. `null`: as the organization says."),
  tags: tagsField("Tags of all requests of the team, in addition to their own."),
};

const TEAM_FIELDS = {
  id: plainField(z.string(), "Id of the team, `team_…`."),
  organization_id: plainField(z.string(), "Id of the organization, which pays."),
  ...TEAM_SETTINGS,
  created_at: timeField("Creation time (RFC 3339)."),
  deleted_at: nullableTimeField(
    "Time at which the team was deleted (RFC 3339). Its keys are revoked, its usage remains. `null` for a team that exists.",
  ),
};

/** A team in a response. */
export const TeamView = z.object(viewShape(TEAM_FIELDS)).meta({
  id: "Team",
  description: "A group inside an organization, whose keys have a policy, limits and budgets of their own.",
});

/** Returns a team as the management API and the commands show it. */
export function presentTeam(team: TeamRecord): Record<string, unknown> {
  return presentFields(TEAM_FIELDS, team);
}

const TEAM_MEMBER_FIELDS = {
  team_id: plainField(z.string(), "Id of the team."),
  organization_id: plainField(z.string(), "Id of the organization."),
  user_id: plainField(z.string(), "Id of the user."),
  is_lead: plainField(
    z.boolean(),
    "Whether the member leads the team: reads its usage and requests, manages its keys, and adds and removes members.",
  ),
  source: plainField(z.enum(MEMBER_SOURCES), "What made the membership, and alone ends it."),
  created_at: timeField("Time at which the user joined the team (RFC 3339)."),
};

/** A member of a team in a response. */
export const TeamMemberView = z
  .object(viewShape(TEAM_MEMBER_FIELDS))
  .meta({ id: "TeamMember", description: "A user's membership in a team of an organization." });

/** Returns a member of a team as the management API and the commands show it. */
export function presentTeamMember(member: TeamMemberRecord): Record<string, unknown> {
  return presentFields(TEAM_MEMBER_FIELDS, member);
}
