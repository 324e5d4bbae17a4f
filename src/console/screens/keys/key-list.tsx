import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Check, Select } from "../../parts/controls/field.tsx";
import { SearchInput } from "../../parts/controls/search-input.tsx";
import { FilterBar } from "../../parts/filters/filter-bar.tsx";
import { Empty } from "../../parts/layout/states.tsx";
import { PagedRows } from "../../parts/lists/paged-rows.tsx";
import { useMe } from "../../state/accounts/me.ts";
import { useLoad } from "../../state/load.ts";
import { query, setQuery } from "../../state/location.ts";
import { usePages } from "../../state/pages.ts";
import { can, isSelf, leads } from "../../state/session.ts";
import { useSearch } from "../../state/use-search.ts";
import { text } from "../../text/text.ts";
import type { ListedKey } from "./key-details.ts";
import { type KeyAction, KeyDialog } from "./key-dialog.tsx";
import { type KeysOf, listKeyFields, ORDERS, toKeyQuery, UNUSED } from "./key-filters.ts";
import { makesOwnOnly, mayMakeKey } from "./key-rights.ts";
import { KeyTable, toRow, type Use } from "./key-table.tsx";

const words = text.keys;
const ROWS = 100;
const DAYS = 30;
const DAY_MS = 86_400_000;

/** Keys with their limits and their use, found by what the address says; and the dialogs that change them. */
export function KeyList({ of }: { of: KeysOf }) {
  const [action, setAction] = useState<KeyAction | null>(null);
  const search = useSearch();
  const filter = { ...toKeyQuery(of), search: search.sought };
  const { unused, order, ...others } = filter;
  const showsEnded = query.value["ended"] === "1" && unused === undefined && filter.older_than === undefined;
  const pages = usePages<ListedKey>(JSON.stringify(filter), (after, signal) =>
    call("GET /api/admin/keys", { query: { ...filter, limit: ROWS, after }, signal }),
  );
  const useOf = useUses(of);
  const me = useMe(makesOwnOnly()).data;
  const isFiltered =
    unused !== undefined || Object.entries(others).some(([name, value]) => value && !isFixed(of, name));
  const rows = pages.rows
    ?.map((key) => toRow(key, useOf))
    .filter(({ state }) => showsEnded || state === "active");
  return (
    <>
      <search class="list-filters">
        <FilterBar fields={listKeyFields(of)} values={query.value} onChange={setQuery}>
          <SearchInput class="list-search" label={words.search} value={search.typed} onInput={search.type} />
          <UnusedSelect value={unused ?? ""} />
        </FilterBar>
        {unused === undefined && filter.older_than === undefined ? (
          <Check
            label={words.showEnded}
            isChecked={showsEnded}
            onChange={(isChecked) => setQuery({ ended: isChecked ? "1" : null })}
          />
        ) : null}
        <span class="grow" />
        <OrderSelect value={order ?? "newest"} />
        {mayMakeKey(me) ? (
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
        {(shown) => <KeyTable rows={shown} of={of} onAction={setAction} />}
      </PagedRows>
      <KeyDialog action={action} owner={of} onAction={setAction} onChanged={pages.reload} />
    </>
  );
}

/** Whether a parameter is not a filter, but says whose keys the list has. */
function isFixed({ account, user, team }: KeysOf, name: string): boolean {
  return { account_id: account, user_id: user, team_id: team }[name] != null;
}

function UnusedSelect({ value }: { value: (typeof UNUSED)[number] }) {
  return (
    <Select
      hidesLabel
      label={words.unused}
      value={value}
      choices={UNUSED.map((one) => ({ value: one, label: words.unusedChoices[one] }))}
      onChange={(chosen) => setQuery({ unused: chosen || null })}
    />
  );
}

function OrderSelect({ value }: { value: (typeof ORDERS)[number] }) {
  return (
    <Select
      hidesLabel
      label={words.order}
      value={value}
      choices={ORDERS.map((one) => ({ value: one, label: words.orders[one] }))}
      // The order of a column would hide that of the API.
      onChange={(order) => setQuery({ order: order === "newest" ? null : order, sort: null })}
    />
  );
}

/** Returns a function that finds the requests and costs of the last days of a key; it returns null while they are not known. */
export function useUses({ account, team: chosen }: KeysOf): (key: ListedKey) => Use | null {
  // Others may read only their own usage.
  const team = can("read") || leads(chosen ?? null) ? chosen : undefined;
  const { data } = useLoad(`uses ${account ?? ""} ${team ?? ""}`, (signal) =>
    call("GET /api/admin/usage", {
      query: {
        from: new Date(Date.now() - DAYS * DAY_MS).toISOString().slice(0, 10),
        group_by: "key",
        account_id: account,
        team_id: team,
      },
      signal,
    }),
  );
  if (data === null) return () => null;
  const uses = new Map(
    data.data.map((line) => [line.key ?? "", { requests: line.requests, cost: line.cost_nanodollars }]),
  );
  return (key) => {
    // A report lacks keys that were used if it is not complete, and those of others whose usage the person may not read.
    const isReported = data.is_complete && (can("read") || team !== undefined || isSelf(key.user_id));
    return uses.get(key.id) ?? (isReported ? { requests: 0, cost: 0 } : null);
  };
}
