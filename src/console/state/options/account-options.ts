import { useEffect } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Me } from "../../api/schema.ts";
import { loadTeams, teamsOf } from "../accounts/teams.ts";
import type { Option } from "../filter-options.ts";
import { useLoad } from "../load.ts";
import { loadPages } from "../names.ts";
import { can, session } from "../session.ts";

/** A member of an organization to choose from, with their teams. */
export interface Person {
  readonly id: string;
  readonly name: string;
  readonly teams: Me["teams"];
}

/**
 * Returns the members of an organization; null until they are loaded, and for other accounts. A null account stands for that of the session.
 * Members who may not read the organization have none to choose from.
 */
export function usePeople(account: string | null): readonly Person[] | null {
  const id = account ?? session.value?.account?.id ?? "";
  const isSeen = id.startsWith("org_") && can("read");
  const { data } = useLoad(isSeen ? `members ${id}` : null, async (signal) => {
    const members = await loadPages((query) =>
      call("GET /api/admin/organizations/{id}/members", { params: { id }, query, signal }),
    );
    return members.map(({ user_id, user_name, teams }) => ({
      id: user_id,
      name: user_name ?? user_id,
      teams,
    }));
  });
  return data;
}

/** Returns the members of an organization as options; none for other accounts. A null account stands for that of the session. */
export function useMemberOptions(account: string | null): readonly Option[] {
  return (usePeople(account) ?? []).map(({ id, name }) => toOption(id, name));
}

/** Returns the teams of an organization that the person may see, as options; none for other accounts. */
export function useTeamOptions(account: string | null): readonly Option[] {
  const id = account ?? session.value?.account?.id ?? "";
  useEffect(() => {
    if (id.startsWith("org_")) loadTeams(id);
  }, [id]);
  return teamsOf(id);
}

/** Returns the keys of an account to choose from. Null stands for the account of the session, and for the operator for all keys. */
export function useKeyOptions(account: string | null): readonly Option[] {
  const { data } = useLoad(`keys ${account ?? ""}`, async (signal) => {
    const keys = await loadPages((query) =>
      call("GET /api/admin/keys", { query: { ...query, account_id: account }, signal }),
    );
    return keys.map(({ id, name, hint }) => ({ value: id, label: name, detail: hint }));
  });
  return data ?? [];
}

function toOption(id: string, name: string): Option {
  return { value: id, label: name, detail: id.slice(-6) };
}

/** How many tags are offered: those with the highest cost. */
const MAX_TAGS = 200;
/** What a report says in place of tags that it does not list individually. */
const OTHER_TAGS = "(other)";

/** Returns the tags of an account's requests in the last 30 days to choose from. */
export function useTagOptions(account: string | null): readonly Option[] {
  const { data } = useLoad(`tags ${account ?? ""}`, async (signal) => {
    const { data: lines } = await call("GET /api/admin/usage", {
      query: { group_by: "tag", account_id: account },
      signal,
    });
    const tags = lines.flatMap(({ tag }) => (tag && tag !== OTHER_TAGS ? [tag] : []));
    return tags.slice(0, MAX_TAGS).map((tag) => ({ value: tag, label: tag }));
  });
  return data ?? [];
}
