import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Key } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Check, Select } from "../../parts/controls/field.tsx";
import { SearchInput } from "../../parts/controls/search-input.tsx";
import { Empty } from "../../parts/layout/states.tsx";
import { PagedRows } from "../../parts/lists/paged-rows.tsx";
import { useLoad } from "../../state/load.ts";
import { query, setQuery } from "../../state/location.ts";
import { loadOptions } from "../../state/names.ts";
import { usePages } from "../../state/pages.ts";
import { isManager, isOperator } from "../../state/session.ts";
import { useSearch } from "../../state/use-search.ts";
import { text } from "../../text/text.ts";
import { seesUsers } from "../requests/filter-fields.ts";
import { type KeyAction, KeyDialog } from "./key-dialog.tsx";
import { KeyTable, toRow, type Use } from "./key-table.tsx";

const words = text.keys;
const ROWS = 100;
const DAYS = 30;
const DAY_MS = 86_400_000;

/** The choices of the filter for keys that are not in use. */
const UNUSED = ["", "never", "7d", "30d", "90d"] as const;

/** The keys of an account, or all that the signed-in person may see, with their limits and their use; and the dialogs that change them. */
export function KeyList({ account }: { account: string | null }) {
  const [action, setAction] = useState<KeyAction | null>(null);
  const search = useSearch();
  const unused = UNUSED.find((one) => one === query.value["unused"]) || undefined;
  const showsEnded = query.value["ended"] === "1" && unused === undefined;
  const filter = { account_id: account, search: search.sought, unused };
  const pages = usePages<Key>(JSON.stringify(filter), (after, signal) =>
    call("GET /api/admin/keys", { query: { ...filter, limit: ROWS, after }, signal }),
  );
  const useOf = useUses(account);
  useNames();
  const isFiltered = search.sought !== undefined || unused !== undefined;
  const rows = pages.rows
    ?.map((key) => toRow(key, useOf))
    .filter(({ state }) => showsEnded || state === "active");
  return (
    <>
      <search class="list-filters">
        <SearchInput class="list-search" label={words.search} value={search.typed} onInput={search.type} />
        <Select
          hidesLabel
          label={words.unused}
          value={unused ?? ""}
          choices={UNUSED.map((value) => ({ value, label: words.unusedChoices[value] }))}
          onChange={(value) => setQuery({ unused: value || null })}
        />
        {unused === undefined ? (
          <Check
            label={words.showEnded}
            isChecked={showsEnded}
            onChange={(isChecked) => setQuery({ ended: isChecked ? "1" : null })}
          />
        ) : null}
        <span class="grow" />
        {isManager.value ? (
          <Button kind="primary" icon="plus" onClick={() => setAction({ kind: "make" })}>
            {words.make}
          </Button>
        ) : null}
      </search>
      <PagedRows
        pages={{ ...pages, rows: rows ?? null }}
        empty={
          <Empty title={isFiltered ? words.noMatch : words.none}>
            <p>{isFiltered ? words.noMatchAbout : words.noneAbout}</p>
          </Empty>
        }
      >
        {(shown) => <KeyTable rows={shown} hasOwner={account === null} onAction={setAction} />}
      </PagedRows>
      <KeyDialog action={action} account={account} onAction={setAction} onChanged={pages.reload} />
    </>
  );
}

/** Loads the names of owners: of accounts for the operator, and of members. */
function useNames(): void {
  const isForAll = isOperator.value;
  useEffect(() => {
    if (isForAll) loadOptions("accounts");
    else if (seesUsers()) loadOptions("users");
  }, [isForAll]);
}

/** Returns a function that finds the requests and costs of the last days of a key; it returns null while they are not known. */
function useUses(account: string | null): (keyId: string) => Use | null {
  const { data } = useLoad(`uses ${account ?? ""}`, (signal) =>
    call("GET /api/admin/usage", {
      query: {
        from: new Date(Date.now() - DAYS * DAY_MS).toISOString().slice(0, 10),
        group_by: "key",
        account_id: account,
      },
      signal,
    }),
  );
  if (data === null) return () => null;
  const uses = new Map(
    data.data.map((line) => [line.key ?? "", { requests: line.requests, cost: line.cost_nanodollars }]),
  );
  // A report that is not complete may lack keys that were used.
  const unused = data.is_complete ? { requests: 0, cost: 0 } : null;
  return (keyId) => uses.get(keyId) ?? unused;
}
