import type { ComponentChildren } from "preact";
import { Button } from "../../parts/controls/button.tsx";
import { Combobox } from "../../parts/controls/combobox.tsx";
import { Crumbs } from "../../parts/layout/crumbs.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { Empty, ErrorBox, Skeleton } from "../../parts/layout/states.tsx";
import { ScrollBox } from "../../parts/lists/scroll-box.tsx";
import { loadModel, useCatalog } from "../../state/catalog/load-models.ts";
import type { ModelDetails } from "../../state/catalog/model-types.ts";
import { useLoad } from "../../state/load.ts";
import { query, setQuery } from "../../state/location.ts";
import { can } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { type Comparison, compareModels } from "./compare-models.ts";
import { MAX_COMPARED, modelPath, readIds } from "./model-filters.ts";
import { MODELS_LIST } from "./models-list.ts";

const words = text.models;

/** `/console/models/compare?ids=`: up to four models side by side. */
export default function CompareModels() {
  const ids = readIds(query.value);
  const key = ids.join(",");
  const { data, error, reload } = useLoad(key === "" ? null : `compare ${key}`, (signal) =>
    Promise.all(ids.map((id) => loadModel(id, signal))),
  );
  // What was loaded stays while another model is added or removed.
  const models = ids.flatMap((id) => data?.find((model) => model.id === id) ?? []);
  return (
    <Page
      title={words.compareTitle}
      heading={<Crumbs list={MODELS_LIST} title={words.compareTitle} />}
      actions={<Actions ids={ids} />}
    >
      <Picker ids={ids} />
      {ids.length === 0 ? (
        <Empty title={words.compareNone}>
          <p>{words.compareNoneAbout}</p>
        </Empty>
      ) : error !== null ? (
        <ErrorBox error={error} onRetry={reload} />
      ) : models.length === 0 ? (
        <Skeleton lines={12} />
      ) : (
        <CompareTable models={models} />
      )}
    </Page>
  );
}

const setIds = (ids: readonly string[]) => setQuery({ ids: ids.length === 0 ? null : ids.join(",") });

function Actions({ ids }: { ids: readonly string[] }) {
  return (
    <>
      {ids.length === 0 || !can("call") ? null : (
        <a class="button primary" href={`/console/playground?models=${encodeURIComponent(ids.join(","))}`}>
          {words.compareInPlayground}
        </a>
      )}
    </>
  );
}

function Picker({ ids }: { ids: readonly string[] }) {
  const { data } = useCatalog();
  if (ids.length >= MAX_COMPARED) return null;
  const options = (data?.data ?? [])
    .filter(({ id }) => !ids.includes(id))
    .map(({ id, name }) => ({ value: id, label: name, detail: id }));
  return (
    <div class="compare-picker">
      <Combobox
        hidesLabel
        label={words.compareAdd}
        value={null}
        options={options}
        onChange={(id) => {
          if (id !== null) setIds([...ids, id]);
        }}
      />
    </div>
  );
}

function CompareHead({ models }: { models: readonly ModelDetails[] }) {
  const remove = (id: string) => setIds(models.map((model) => model.id).filter((other) => other !== id));
  return (
    <thead>
      <tr>
        <td class="compare-label" />
        {models.map(({ id, name }) => (
          <th key={id} scope="col">
            <span class="row">
              <a class="cut" href={modelPath(id)} title={`${name}\n${id}`}>
                {name}
              </a>
              <Button
                kind="bare"
                size="small"
                icon="close"
                label={words.compareRemove(name)}
                onClick={() => remove(id)}
              />
            </span>
          </th>
        ))}
      </tr>
    </thead>
  );
}

function CompareTable({ models }: { models: readonly ModelDetails[] }) {
  return (
    <ScrollBox kind="card" label={words.compareTitle}>
      <table class="table compare-table" style={{ "--models": models.length }}>
        <CompareHead models={models} />
        {compareModels(models).map(({ title, rows }) => (
          <tbody key={title}>
            <tr class="compare-group">
              <th scope="rowgroup" colSpan={models.length + 1}>
                {title}
              </th>
            </tr>
            {rows.map((row) => (
              <CompareRow key={row.label} row={row} models={models} />
            ))}
          </tbody>
        ))}
      </table>
    </ScrollBox>
  );
}

function CompareRow({ row, models }: { row: Comparison; models: readonly ModelDetails[] }) {
  const cell = (value: string, i: number): ComponentChildren =>
    row.best.has(i) ? <strong>{value}</strong> : value;
  return (
    <tr>
      <th scope="row" class="compare-label">
        {row.label}
      </th>
      {row.values.map((value, i) => (
        <td key={models[i]?.id} class={row.isNumber ? "number" : "wraps"}>
          {cell(value, i)}
        </td>
      ))}
    </tr>
  );
}
