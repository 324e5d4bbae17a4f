import { z } from "zod";
import { choiceFormat } from "../fields/field-option.ts";
import {
  dollarsField,
  plainField,
  presentFields,
  settableField,
  timeField,
  viewShape,
} from "../fields/resource-fields.ts";
import { MEMBER_SOURCES, type MemberRecord } from "./records.ts";
import { ROLES } from "./rights.ts";

/** The fields that requests can set of a member. */
export const MEMBER_SETTINGS = {
  role: settableField(
    { view: z.enum(ROLES), input: z.enum(ROLES).meta({ examples: ["member"] }) },
    "Role of the member: `owner` and `admin` manage the organization, `billing` reads its balance and usage, `auditor` reads everything, `member` calls models and makes keys of their own.",
    {
      flags: "--role <role>",
      help: `Role: ${ROLES.join(", ")}`,
      initial: "member",
      ...choiceFormat(ROLES),
    },
  ),
  daily_limit: dollarsField(
    "US dollars that the member may spend of the organization's balance in a day (UTC). `null` means no limit.",
    { flags: "--daily-limit <dollars>", help: "Daily spending limit in US dollars", none: "none" },
  ),
};

const MEMBER_FIELDS = {
  organization_id: plainField(z.string(), "Id of the organization."),
  user_id: plainField(z.string(), "Id of the user."),
  ...MEMBER_SETTINGS,
  source: plainField(
    z.enum(MEMBER_SOURCES).nullable(),
    "What made the membership, and alone ends it: `manual`, an `invitation`, or rules of OpenID Connect (`oidc`). `null` for a membership of a version before 0.3, which rules take over.",
  ),
  created_at: timeField("Time at which the user became a member (RFC 3339)."),
};

/** A member in a response. */
export const MemberView = z
  .object(viewShape(MEMBER_FIELDS))
  .meta({ id: "Member", description: "A user's membership in an organization." });

/** Returns a member as the management API and the commands show it. */
export function presentMember(member: MemberRecord): Record<string, unknown> {
  return presentFields(MEMBER_FIELDS, member);
}
