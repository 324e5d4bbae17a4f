import { call } from "../../api/client.ts";
import { useLoad } from "../../state/load.ts";
import { loadPages } from "../../state/names.ts";
import type { ListedKey } from "./key-details.ts";
import { stateOf } from "./key-table.tsx";

/** Returns the keys of a person or a team that can be used; null until they are loaded. */
export function useValidKeys(of: {
  readonly account_id: string;
  readonly user_id?: string;
  readonly team_id?: string;
}): readonly ListedKey[] | null {
  const { data } = useLoad(JSON.stringify(of), (signal) =>
    loadPages<ListedKey>((query) => call("GET /api/admin/keys", { query: { ...query, ...of }, signal })),
  );
  return data?.filter((key) => stateOf(key) === "active") ?? null;
}
