import { useEffect, useState } from "preact/hooks";
import { Button } from "../../parts/controls/button.tsx";
import { Combobox } from "../../parts/controls/combobox.tsx";
import { Select } from "../../parts/controls/field.tsx";
import { SearchInput } from "../../parts/controls/search-input.tsx";
import { formatExactTime } from "../../parts/values/format.ts";
import {
  type FieldName,
  type Filters,
  hasFields,
  isRequestId,
  printFilters,
  RANGES,
  USUAL_RANGE,
} from "../../state/filters.ts";
import { navigate, setQuery } from "../../state/location.ts";
import { loadOptions, type NameList, optionsOf } from "../../state/names.ts";
import { isOperator, session } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { pathOf } from "./columns.tsx";

const words = text.requests;

/** Puts filters into the address. */
export function applyFilters(filters: Filters): void {
  setQuery(printFilters(filters));
}

/** The fields above the request list. What they say is in the address. */
export function FilterBar({ filters }: { filters: Filters }) {
  const set = (name: FieldName, value: string | null) => {
    const { [name]: _, ...fields } = filters.fields;
    applyFilters({
      ...filters,
      fields: value === null || value === "" ? fields : { ...fields, [name]: value },
    });
  };
  return (
    <div class="request-filters">
      <Search />
      <TimeSelect filters={filters} />
      <Select
        label={words.columns.outcome}
        hidesLabel
        value={filters.fields.outcome ?? ""}
        choices={[
          { value: "", label: words.anyOutcome },
          ...Object.entries(text.outcomes).map(([value, label]) => ({ value, label })),
        ]}
        onChange={(value) => set("outcome", value)}
      />
      <FilterField name="model" list="models" filters={filters} onChange={set} />
      <FilterField name="provider" list="providers" filters={filters} onChange={set} />
      <FilterField name="key_id" list="keys" filters={filters} onChange={set} />
      {seesUsers() ? <FilterField name="user_id" list="users" filters={filters} onChange={set} /> : null}
      {isOperator.value ? (
        <FilterField name="account_id" list="accounts" filters={filters} onChange={set} />
      ) : null}
      <FilterField name="error_type" list="errors" filters={filters} onChange={set} />
      <FilterField name="session_id" list={null} filters={filters} onChange={set} />
      <FilterField name="tag" list={null} filters={filters} onChange={set} />
      {hasFields(filters) ? (
        <Button kind="bare" onClick={() => applyFilters({ time: filters.time, fields: {}, id: null })}>
          {words.clearFilters}
        </Button>
      ) : null}
    </div>
  );
}

/** Whether the requests of several users can be seen: not by a member, and not in the account of one user. */
function seesUsers(): boolean {
  return (
    isOperator.value || (session.value?.role !== "member" && session.value?.account?.kind === "organization")
  );
}

interface FilterFieldProps {
  readonly name: Exclude<FieldName, "outcome">;
  /** What is offered; null: nothing, any text is taken. */
  readonly list: NameList | null;
  readonly filters: Filters;
  readonly onChange: (name: FieldName, value: string | null) => void;
}

function FilterField({ name, list, filters, onChange }: FilterFieldProps) {
  const value = filters.fields[name] ?? null;
  // The name of a key in the address must be shown, not its id.
  useEffect(() => {
    if (value !== null && list !== null) loadOptions(list);
  }, [value, list]);
  return (
    <Combobox
      label={words.filters[name]}
      hidesLabel
      allowsOther
      value={value}
      options={list === null ? [] : optionsOf(list)}
      onOpen={() => {
        if (list !== null) loadOptions(list);
      }}
      onChange={(chosen) => onChange(name, chosen)}
    />
  );
}

function TimeSelect({ filters: { time, ...rest } }: { filters: Filters }) {
  const custom = "last" in time ? null : time;
  const choices = Object.keys(RANGES).map((value) => ({
    value,
    label: words.ranges[value as keyof typeof RANGES],
  }));
  const chosen = custom === null ? [] : [{ value: "custom", label: words.customRange }];
  return (
    <div class="row" title={custom === null ? undefined : describeRange(custom)}>
      <Select
        label={words.range}
        hidesLabel
        value={"last" in time ? time.last : "custom"}
        choices={[...choices, ...chosen]}
        onChange={(value) =>
          applyFilters({
            ...rest,
            time: { last: value in RANGES ? (value as keyof typeof RANGES) : USUAL_RANGE },
          })
        }
      />
    </div>
  );
}

function describeRange({ from, to }: { readonly from: number; readonly to: number }): string {
  return `${formatExactTime(from)} – ${formatExactTime(to)}`;
}

/** A field that takes the id of a generation or of a request, and goes to its page. */
function Search() {
  const [typed, setTyped] = useState("");
  const [isWrong, setWrong] = useState(false);
  const submit = (event: Event) => {
    event.preventDefault();
    const id = typed.trim();
    if (id === "") return;
    if (/^key_\w+$/.test(id)) setQuery({ key_id: id });
    else if (/^(org|user|account)_\w+$/.test(id)) setQuery({ account_id: id });
    else if (/^s_[\w-]{32}$/.test(id)) setQuery({ session_id: id });
    else if (isRequestId(id)) navigate(pathOf(id));
    else {
      setWrong(true);
      return;
    }
    setTyped("");
  };
  return (
    <form class="search" onSubmit={submit}>
      <SearchInput
        label={words.search}
        value={typed}
        errorId={isWrong ? "search-about" : null}
        onInput={(value) => {
          setWrong(false);
          setTyped(value);
        }}
      />
      {isWrong ? (
        <div id="search-about" class="field-error search-about" role="alert">
          {words.notAnId}
        </div>
      ) : null}
    </form>
  );
}
