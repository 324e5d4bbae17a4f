import { Page } from "../../parts/layout/page.tsx";
import { Tabs } from "../../parts/layout/tabs.tsx";
import { query, setQuery } from "../../state/location.ts";
import { text } from "../../text/text.ts";
import { Catalog } from "./catalog.tsx";
import { Configuration } from "./configuration.tsx";
import { Gateways } from "./gateways.tsx";
import { Sessions } from "./sessions.tsx";

const { tabs: titles } = text.settings;

/** The configuration as a form, its revisions and secrets, the gateways, the catalog, and the console sessions. */
export default function Settings() {
  const tabs = [
    { id: "configuration", title: titles.configuration, content: <Configuration /> },
    { id: "gateways", title: titles.gateways, content: <Gateways /> },
    { id: "catalog", title: titles.catalog, content: <Catalog /> },
    { id: "sessions", title: titles.sessions, content: <Sessions /> },
  ];
  const chosen = query.value["tab"] ?? "configuration";
  return (
    <Page title={text.settings.title}>
      <Tabs
        label={text.settings.tabsLabel}
        tabs={tabs}
        value={tabs.some(({ id }) => id === chosen) ? chosen : "configuration"}
        onChoose={(tab) => setQuery({ tab, q: null, group: null, set: null })}
      />
    </Page>
  );
}
