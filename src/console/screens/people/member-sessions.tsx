import { call } from "../../api/client.ts";
import type { ConsoleSession } from "../../api/schema.ts";
import { usePages } from "../../state/pages.ts";
import { SessionList } from "../sessions/session-list.tsx";

const ROWS = 50;

/** The browsers in which a person is signed in to the account, each with a button that ends its session. */
export function MemberSessions({ account, user }: { account: string; user: string }) {
  const pages = usePages<ConsoleSession>(`${account} ${user}`, (after, signal) =>
    call("GET /api/admin/sessions", {
      query: { limit: ROWS, after, account_id: account, user_id: user },
      signal,
    }),
  );
  return <SessionList pages={pages} />;
}
