import { call } from "../../api/client.ts";
import type { Option } from "../filter-options.ts";
import { useLoad } from "../load.ts";
import { loadPages } from "../names.ts";
import { session } from "../session.ts";

/** Returns the members of an organization to choose from; none for other accounts. Null stands for the account of the session. */
export function useMemberOptions(account: string | null): readonly Option[] {
  const id = account ?? session.value?.account?.id ?? "";
  const { data } = useLoad(id.startsWith("org_") ? `members ${id}` : null, async (signal) => {
    const members = await loadPages((query) =>
      call("GET /api/admin/organizations/{id}/members", { params: { id }, query, signal }),
    );
    return members.map(({ user_id, user_name }) => toOption(user_id, user_name ?? user_id));
  });
  return data ?? [];
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
