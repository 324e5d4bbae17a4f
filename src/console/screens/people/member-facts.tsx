import type { Me, Member } from "../../api/schema.ts";
import { can } from "../../state/session.ts";
import { text } from "../../text/text.ts";

const words = text.people;

/** Whether the signed-in person may change and remove a member: owners are changed by owners only. */
export function mayChangeMember({ role }: Pick<Member, "role">): boolean {
  return can(role === "owner" ? "manage_owners" : "manage_people");
}

/** What made a membership, with what that means on hover. */
export function Source({ of: source }: { of: Member["source"] }) {
  const known = source ?? "unknown";
  return <span title={words.sourcesAbout[known]}>{words.sources[known]}</span>;
}

/** The teams of a member, each with a link. */
export function TeamLinks({ organization, teams }: { organization: string; teams: Me["teams"] }) {
  if (teams.length === 0) return <span class="faint">–</span>;
  return (
    <ul class="inline-list">
      {teams.map(({ id, name, is_lead }) => (
        <li key={id}>
          <a href={`/console/people/${organization}/teams/${id}`}>{name}</a>
          {is_lead ? <span class="faint"> ({text.teams.lead})</span> : null}
        </li>
      ))}
    </ul>
  );
}
