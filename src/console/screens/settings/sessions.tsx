import { call } from "../../api/client.ts";
import type { ConsoleSession } from "../../api/schema.ts";
import { usePages } from "../../state/pages.ts";
import { SessionList } from "../sessions/session-list.tsx";

const ROWS = 50;

/** The browsers that are signed in, of all people. */
export function Sessions() {
  const pages = usePages<ConsoleSession>("sessions", (after, signal) =>
    call("GET /api/admin/sessions", { query: { limit: ROWS, after }, signal }),
  );
  return <SessionList pages={pages} />;
}
