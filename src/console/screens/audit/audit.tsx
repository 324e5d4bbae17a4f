import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { AccountPicker } from "../../parts/account-picker.tsx";
import { LoadMore } from "../../parts/load-more.tsx";
import { Page } from "../../parts/page.tsx";
import { Empty, Skeleton } from "../../parts/states.tsx";
import { query, setQuery } from "../../state/location.ts";
import { loadOptions } from "../../state/names.ts";
import { usePages } from "../../state/pages.ts";
import { isOperator } from "../../state/session.ts";
import { auditText } from "../../text/audit.ts";
import { AllHolds } from "./all-holds.tsx";
import { AuditCheck } from "./audit-check.tsx";
import { type AuditEntry, filterEntries } from "./audit-rows.ts";
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
  const shown = filterEntries(pages.rows ?? [], typed);
  return (
    <Page title={auditText.title}>
      <div class="stack">
        {isOperator.value ? <AuditCheck /> : null}
        <section class="card">
          <div class="card-head">
            <h2>{auditText.list}</h2>
            <span class="grow" />
            <input
              class="input setting-search"
              type="search"
              aria-label={auditText.search}
              placeholder={auditText.search}
              value={typed}
              onInput={(event) => setQuery({ q: event.currentTarget.value })}
            />
            {isOperator.value ? (
              <AccountPicker
                label={auditText.account}
                value={account}
                onChange={(id) => setQuery({ account_id: id })}
              />
            ) : null}
          </div>
          {pages.rows === null ? (
            <div class="card-body">{pages.error === null ? <Skeleton lines={8} /> : null}</div>
          ) : shown.length === 0 ? (
            <Empty title={pages.rows.length === 0 ? auditText.none : auditText.noMatch}>
              <p>{pages.rows.length === 0 ? auditText.noneAbout : auditText.noMatchAbout}</p>
            </Empty>
          ) : (
            <AuditTable rows={shown} onOpen={setOpened} />
          )}
          <LoadMore pages={pages} />
        </section>
        {isOperator.value ? <AllHolds /> : null}
      </div>
      {opened === null ? null : <EntryDialog entry={opened} onClose={() => setOpened(null)} />}
    </Page>
  );
}
