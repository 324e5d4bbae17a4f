import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { AuditEntry } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Select } from "../../parts/controls/field.tsx";
import { FilterBar } from "../../parts/filters/filter-bar.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { Empty } from "../../parts/layout/states.tsx";
import { PagedRows } from "../../parts/lists/paged-rows.tsx";
import { query, setQuery } from "../../state/location.ts";
import { usePages } from "../../state/pages.ts";
import { isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { AllHolds } from "./all-holds.tsx";
import { AuditCheck } from "./audit-check.tsx";
import { listAuditFields } from "./audit-fields.ts";
import { addEntryNames } from "./audit-names.ts";
import { RANGES, toAuditQuery } from "./audit-rows.ts";
import { AuditTable } from "./audit-table.tsx";
import { EntryDialog } from "./entry-dialog.tsx";

const ROWS = 100;
const FILTERS = ["last", "actor", "kind", "target", "account_id"] as const;

/** The audit log with the check of its hash chain; for the operator also the holds. */
export default function Audit() {
  const [opened, setOpened] = useState<AuditEntry | null>(null);
  return (
    <Page title={text.audit.title}>
      <div class="stack">
        {isOperator.value ? <AuditCheck /> : null}
        <section class="card">
          <div class="card-head">
            <h2 class="visually-hidden">{text.audit.list}</h2>
            <FilterBar fields={listAuditFields()} values={query.value} onChange={setQuery}>
              <Select
                hidesLabel
                label={text.audit.range}
                value={query.value["last"] ?? ""}
                choices={(["", ...Object.keys(RANGES)] as const).map((value) => ({
                  value,
                  label: text.audit.ranges[value as keyof typeof text.audit.ranges],
                }))}
                onChange={(last) => setQuery({ last: last || null })}
              />
            </FilterBar>
          </div>
          <Entries onOpen={setOpened} />
        </section>
        {isOperator.value ? <AllHolds /> : null}
      </div>
      {opened === null ? null : <EntryDialog entry={opened} onClose={() => setOpened(null)} />}
    </Page>
  );
}

/** The entries that pass the filters of the address, page by page. */
function Entries({ onOpen }: { onOpen: (entry: AuditEntry) => void }) {
  const filters = FILTERS.map((name) => query.value[name] ?? "");
  const isFiltered = filters.some((value) => value !== "");
  const pages = usePages<AuditEntry>(filters.join("\n"), async (after, signal) => {
    const page = await call("GET /api/admin/audit", {
      query: { ...toAuditQuery(query.value, Date.now()), limit: ROWS, after },
      signal,
    });
    addEntryNames(page.names);
    return page;
  });
  return (
    <PagedRows
      pages={pages}
      lines={8}
      empty={
        <Empty title={isFiltered ? text.audit.noMatch : text.audit.none}>
          <p>{isFiltered ? text.audit.noMatchAbout : text.audit.noneAbout}</p>
          {isFiltered ? (
            <Button onClick={() => setQuery(Object.fromEntries(FILTERS.map((name) => [name, null])))}>
              {text.audit.clear}
            </Button>
          ) : null}
        </Empty>
      }
    >
      {(rows) => <AuditTable rows={rows} onOpen={onOpen} />}
    </PagedRows>
  );
}
