import { useState } from "preact/hooks";
import { Button } from "../../parts/controls/button.tsx";
import { Select } from "../../parts/controls/field.tsx";
import { SearchInput } from "../../parts/controls/search-input.tsx";
import { FilterBar } from "../../parts/filters/filter-bar.tsx";
import { formatMinute, formatSpan, shortenId } from "../../parts/values/format.ts";
import { type Filters, isRequestId, printFilters, RANGES, USUAL_RANGE } from "../../state/filters.ts";
import { navigate, setQuery } from "../../state/location.ts";
import { text } from "../../text/text.ts";
import { pathOf } from "./columns.tsx";
import { listFilterFields } from "./filter-fields.ts";

const words = text.requests;
const DAY_MS = 86_400_000;

/** Puts filters into the address. */
export function applyFilters(filters: Filters): void {
  setQuery(printFilters(filters));
}

/** The search, the range of time and the filters above the request list. What they say is in the address. */
export function RequestFilters({ filters }: { filters: Filters }) {
  const change = (changes: Readonly<Record<string, string | null>>) => {
    const fields = Object.entries({ ...filters.fields, ...changes }).filter(([, value]) => value !== null);
    applyFilters({ ...filters, fields: Object.fromEntries(fields), id: null });
  };
  return (
    <div class="request-filters">
      <FilterBar fields={listFilterFields()} values={filters.fields} onChange={change}>
        <Search />
        <TimeSelect filters={filters} />
        {filters.id === null ? null : (
          <Button icon="close" label={text.states.clear(words.columns.id)} onClick={() => change({})}>
            {shortenId(filters.id)}
          </Button>
        )}
      </FilterBar>
    </div>
  );
}

function TimeSelect({ filters: { time, ...rest } }: { filters: Filters }) {
  const custom = "last" in time ? null : time;
  const choices = Object.keys(RANGES).map((value) => ({
    value,
    label: words.ranges[value as keyof typeof RANGES],
  }));
  const chosen = custom === null ? [] : [{ value: "custom", label: describeRange(custom) }];
  return (
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
  );
}

function describeRange({ from, to }: { readonly from: number; readonly to: number }): string {
  return to - from <= DAY_MS ? formatSpan(from, to) : `${formatMinute(from)} – ${formatMinute(to)}`;
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
