import type { Operations } from "../../api/schema.ts";

/** A team with the number of its members. */
export type TeamDetails = Operations["GET /api/admin/organizations/{id}/teams/{team_id}"]["response"]["data"];

/** A member of a team with their name. */
export type TeamMember =
  Operations["GET /api/admin/organizations/{id}/teams/{team_id}/members"]["response"]["data"][number];
