import { call } from "../../api/client.ts";
import type { GenerationLine } from "../../api/schema.ts";
import { Empty } from "../../parts/layout/states.tsx";
import { LoadedRows } from "../../parts/lists/paged-rows.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { useLoad } from "../../state/load.ts";
import { text } from "../../text/text.ts";
import { COLUMNS } from "./columns.tsx";

const ROWS = 10;
const SHOWN = ["time", "outcome", "model", "provider", "duration", "cost"];
const columns = COLUMNS.filter(({ id }) => SHOWN.includes(id)) as readonly Column<GenerationLine>[];

/** Whose requests a list has. */
type RequestsOf = { readonly [name in "account_id" | "key_id" | "user_id" | "team_id"]?: string };

/** The newest requests of an account, or of a key, a user or a team in it, and the way to all of them. */
export function RecentRequests({ of }: { of: RequestsOf }) {
  const loaded = useLoad(JSON.stringify(of), async (signal) => {
    return (await call("GET /api/admin/generations", { query: { ...of, limit: ROWS }, signal })).data;
  });
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text.manage.recent}</h2>
        <span class="grow" />
        <a href={`/console/requests?${new URLSearchParams({ last: "30d", ...of })}`}>
          {text.manage.allRequests}
        </a>
      </div>
      <LoadedRows
        loaded={loaded}
        lines={4}
        empty={
          <Empty title={text.manage.noRequests}>
            <p>{text.manage.noRequestsAbout}</p>
          </Empty>
        }
      >
        {(rows) => (
          <Table hasCards label={text.manage.recent} columns={columns} rows={rows} keyOf={({ id }) => id} />
        )}
      </LoadedRows>
    </section>
  );
}
