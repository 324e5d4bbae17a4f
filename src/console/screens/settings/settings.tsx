import { call } from "../../api/client.ts";
import type { Setting } from "../../api/schema.ts";
import { Check } from "../../parts/controls/field.tsx";
import { SearchInput } from "../../parts/controls/search-input.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { Empty } from "../../parts/layout/states.tsx";
import { LoadedRows } from "../../parts/lists/paged-rows.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Badge, type Tone } from "../../parts/values/badge.tsx";
import { formatCount } from "../../parts/values/format.ts";
import { useLoad } from "../../state/load.ts";
import { query, setQuery } from "../../state/location.ts";
import { text } from "../../text/text.ts";
import { Catalog } from "./catalog.tsx";
import { Gateways } from "./gateways.tsx";
import { Sessions } from "./sessions.tsx";
import { filterSettings, printPlace, printValue } from "./setting-rows.ts";

/** The configuration in force, the catalog, the gateways, and the console sessions. */
export default function Settings() {
  return (
    <Page title={text.settings.title}>
      <div class="stack">
        <Configuration />
        <Catalog />
        <Gateways />
        <Sessions />
      </div>
    </Page>
  );
}

function Configuration() {
  const loaded = useLoad("settings", async (signal) => {
    return (await call("GET /api/admin/settings", { signal })).data;
  });
  const typed = query.value["q"] ?? "";
  const changedOnly = query.value["changed"] === "1";
  const { data } = loaded;
  const shown = data === null ? null : filterSettings(data, typed, changedOnly);
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text.settings.settings}</h2>
        <span class="faint">
          {data === null || shown === null
            ? null
            : text.settings.count(formatCount(shown.length), formatCount(data.length))}
        </span>
        <span class="grow" />
        <SearchInput
          class="card-search"
          label={text.settings.search}
          value={typed}
          onInput={(q) => setQuery({ q })}
        />
        <Check
          label={text.settings.changedOnly}
          isChecked={changedOnly}
          onChange={(isChecked) => setQuery({ changed: isChecked ? "1" : null })}
        />
      </div>
      <LoadedRows
        loaded={{ ...loaded, data: shown }}
        lines={10}
        empty={
          <Empty title={text.settings.noMatch}>
            <p>{text.settings.noMatchAbout}</p>
          </Empty>
        }
      >
        {(rows) => (
          <div class="settings-table">
            <Table label={text.settings.settings} columns={COLUMNS} rows={rows} keyOf={({ name }) => name} />
          </div>
        )}
      </LoadedRows>
    </section>
  );
}

const TONES: Readonly<Record<Setting["source"], Tone>> = {
  default: "plain",
  file: "accent",
  environment: "accent",
  database: "good",
};

const { columns } = text.settings;

const COLUMNS: readonly Column<Setting>[] = [
  {
    id: "name",
    title: columns.name,
    width: 480,
    cell: ({ name, description }) => (
      <div class="setting-name">
        <code>{name}</code>
        <span class="faint setting-about">{description}</span>
      </div>
    ),
  },
  {
    id: "value",
    title: columns.value,
    width: 260,
    cell: ({ value, source }) => {
      const printed = printValue(value);
      if (printed === "") return <span class="faint">{text.settings.noValue}</span>;
      return (
        <code class={source === "default" ? "quiet" : "strong"} title={printed}>
          {printed}
        </code>
      );
    },
  },
  {
    id: "source",
    title: columns.source,
    width: 240,
    cell: (setting) => (
      <>
        <Badge tone={TONES[setting.source]}>{text.settings.sources[setting.source]}</Badge>{" "}
        <code title={setting.file ?? undefined}>{printPlace(setting)}</code>
      </>
    ),
  },
];
