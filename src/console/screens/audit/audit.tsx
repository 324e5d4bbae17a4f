import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { AuditEntry } from "../../api/schema.ts";
import { AccountPicker } from "../../parts/controls/account-picker.tsx";
import { SearchInput } from "../../parts/controls/search-input.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { Empty } from "../../parts/layout/states.tsx";
import { PagedRows } from "../../parts/lists/paged-rows.tsx";
import { query, setQuery } from "../../state/location.ts";
import { loadOptions } from "../../state/names.ts";
import { usePages } from "../../state/pages.ts";
import { isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { AllHolds } from "./all-holds.tsx";
import { AuditCheck } from "./audit-check.tsx";
import { filterEntries } from "./audit-rows.ts";
import { AuditTable } from "./audit-table.tsx";
import { EntryDialog } from "./entry-dialog.tsx";

const ROWS = 100;

/** The audit log with the check of its hash chain; for the operator also the holds. */
export default function Audit() {
  const account = isOperator.value ? (query.value["account_id"] ?? null) : null;
  const typed = query.value["q"] ?? "";
  const [opened, setOpened] = useState<AuditEntry | null>(null);
  const pages = usePages<AuditEntry>(account ?? "", (after, signal) =>
    call("GET /api/admin/audit", { query: { limit: ROWS, after, account_id: account }, signal }),
  );
  useEffect(() => {
    loadOptions("keys");
    if (isOperator.value) loadOptions("accounts");
  }, []);
  const shown = pages.rows === null ? null : filterEntries(pages.rows, typed);
  return (
    <Page title={text.audit.title}>
      <div class="stack">
        {isOperator.value ? <AuditCheck /> : null}
        <section class="card">
          <div class="card-head">
            <h2>{text.audit.list}</h2>
            <span class="grow" />
            <SearchInput
              class="card-search"
              label={text.audit.search}
              value={typed}
              onInput={(q) => setQuery({ q })}
            />
            {isOperator.value ? (
              <AccountPicker
                label={text.audit.account}
                value={account}
                onChange={(id) => setQuery({ account_id: id })}
              />
            ) : null}
          </div>
          <PagedRows
            pages={{ ...pages, rows: shown }}
            lines={8}
            empty={
              <Empty title={pages.rows?.length === 0 ? text.audit.none : text.audit.noMatch}>
                <p>{pages.rows?.length === 0 ? text.audit.noneAbout : text.audit.noMatchAbout}</p>
              </Empty>
            }
          >
            {(rows) => <AuditTable rows={rows} onOpen={setOpened} />}
          </PagedRows>
        </section>
        {isOperator.value ? <AllHolds /> : null}
      </div>
      {opened === null ? null : <EntryDialog entry={opened} onClose={() => setOpened(null)} />}
    </Page>
  );
}
