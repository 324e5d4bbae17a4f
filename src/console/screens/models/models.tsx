import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { CatalogModel } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { Empty, ErrorBox, RowsSkeleton } from "../../parts/layout/states.tsx";
import { useCatalog } from "../../state/catalog/load-models.ts";
import type { CatalogList } from "../../state/catalog/model-types.ts";
import { query, setQuery } from "../../state/location.ts";
import { isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { ModelFilterBar } from "./model-filter-bar.tsx";
import {
  comparePath,
  filterModels,
  MAX_COMPARED,
  type ModelFilters,
  printFilters,
  readFilters,
} from "./model-filters.ts";
import { ModelsTable } from "./models-table.tsx";
import { OperatorActions } from "./operator-actions.tsx";

const words = text.models;
/** How long after the last keystroke the filters are written to the address. Browsers limit how often it may change. */
const URL_MS = 250;

/** `/console/models`: all models of the catalog. */
export default function Models() {
  const { data, error, reload } = useCatalog();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [filters, change] = useFilters();
  const shown = useMemo(() => filterModels(data?.data ?? [], filters), [data, filters]);
  return (
    <Page
      title={words.title}
      heading={<Heading count={data === null ? "" : words.count(shown.length, data.data.length)} />}
      fills
      actions={
        <>
          <CompareBar selected={selected} onClear={() => setSelected(new Set())} />
          {isOperator.value && selected.size === 0 ? <OperatorActions onChanged={reload} /> : null}
        </>
      }
    >
      {data !== null ? (
        <ModelList
          catalog={data}
          shown={shown}
          filters={filters}
          selected={selected}
          onChange={change}
          onSelect={(id) => setSelected(toggle(selected, id))}
        />
      ) : (
        <>
          <ModelFilterBar
            filters={filters}
            providers={[]}
            onChange={change}
            onClear={() => change(readFilters({}))}
          />
          {error === null ? (
            <RowsSkeleton rows={16} />
          ) : (
            <div class="page-body">
              <ErrorBox error={error} onRetry={reload} />
            </div>
          )}
        </>
      )}
    </Page>
  );
}

function toggle(selected: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(selected);
  if (!next.delete(id) && next.size < MAX_COMPARED) next.add(id);
  return next;
}

function Heading({ count }: { count: string }) {
  return (
    <div class="row page-title">
      <h1>{words.title}</h1>
      <span class="quiet count" role="status">
        {count}
      </span>
    </div>
  );
}

function CompareBar({ selected, onClear }: { selected: ReadonlySet<string>; onClear: () => void }) {
  if (selected.size === 0) return null;
  return (
    <>
      <span class="quiet" role="status">
        {words.selected(selected.size)}
      </span>
      <Button kind="bare" onClick={onClear}>
        {words.clearSelection}
      </Button>
      <a class="button primary" href={comparePath([...selected])}>
        {words.compare}
      </a>
    </>
  );
}

interface ListProps {
  readonly catalog: CatalogList;
  readonly shown: readonly CatalogModel[];
  readonly filters: ModelFilters;
  readonly selected: ReadonlySet<string>;
  readonly onChange: (changes: Partial<ModelFilters>) => void;
  readonly onSelect: (id: string) => void;
}

function ModelList({ catalog, shown, filters, selected, onChange, onSelect }: ListProps) {
  if (catalog.data.length === 0)
    return (
      <Empty title={words.empty}>
        <p>{words.emptyAbout}</p>
      </Empty>
    );
  const { sort, isDescending, text: typed } = filters;
  const clear = (kept: Partial<ModelFilters>) =>
    onChange({ ...readFilters({}), sort, isDescending, ...kept });
  return (
    <>
      <ModelFilterBar
        filters={filters}
        providers={catalog.providers}
        onChange={onChange}
        onClear={() => clear({ text: typed })}
      />
      {shown.length > 0 ? (
        <ModelsTable
          models={shown}
          filters={filters}
          selected={selected}
          onSort={onChange}
          onSelect={onSelect}
        />
      ) : (
        <Empty title={words.none}>
          <p>{words.noneAbout}</p>
          <Button onClick={() => clear({})}>{words.clearFilters}</Button>
        </Empty>
      )}
    </>
  );
}

/** The filters of the page: shown immediately, and written to the address when typing pauses. */
function useFilters(): [ModelFilters, (changes: Partial<ModelFilters>) => void] {
  const address = JSON.stringify(printFilters(readFilters(query.value)));
  const [filters, setFilters] = useState(() => readFilters(query.value));
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const latest = useRef(filters);
  latest.current = filters;
  const write = () => {
    clearTimeout(timer.current);
    timer.current = undefined;
    setQuery(printFilters(latest.current));
  };
  useEffect(() => {
    // The browser's buttons changed the address.
    if (timer.current === undefined) setFilters(readFilters(query.value));
  }, [address]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const change = (changes: Partial<ModelFilters>) => {
    setFilters({ ...latest.current, ...changes });
    clearTimeout(timer.current);
    timer.current = setTimeout(write, URL_MS);
  };
  return [filters, change];
}
