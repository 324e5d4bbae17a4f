import { useState } from "preact/hooks";
import { Page } from "../../parts/layout/page.tsx";
import { Tabs } from "../../parts/layout/tabs.tsx";
import { query, setQuery } from "../../state/location.ts";
import { text } from "../../text/text.ts";
import { ApplyButton } from "./apply-dialog.tsx";
import { Catalog } from "./catalog.tsx";
import { Configuration } from "./configuration.tsx";
import { ExportMenu } from "./export-menu.tsx";
import { Gateways } from "./gateways.tsx";
import { ReloadButton } from "./reload-dialog.tsx";
import { Revisions } from "./revisions.tsx";
import { Secrets } from "./secrets.tsx";
import { Sessions } from "./sessions.tsx";

const { tabs: titles } = text.settings;

/** The configuration as a form, its revisions and secrets, the gateways, the catalog, and the console sessions. */
export default function Settings() {
  const [round, setRound] = useState(0);
  const again = () => setRound((before) => before + 1);
  const tabs = [
    { id: "configuration", title: titles.configuration, content: <Configuration key={round} /> },
    { id: "revisions", title: titles.revisions, content: <Revisions key={round} /> },
    { id: "secrets", title: titles.secrets, content: <Secrets key={round} /> },
    { id: "gateways", title: titles.gateways, content: <Gateways /> },
    { id: "catalog", title: titles.catalog, content: <Catalog /> },
    { id: "sessions", title: titles.sessions, content: <Sessions /> },
  ];
  const chosen = query.value["tab"] ?? "configuration";
  return (
    <Page
      title={text.settings.title}
      actions={
        <div class="row wrap">
          <ExportMenu />
          <ApplyButton onApplied={again} />
          <ReloadButton onReloaded={again} />
        </div>
      }
    >
      <Tabs
        label={text.settings.tabsLabel}
        tabs={tabs}
        value={tabs.some(({ id }) => id === chosen) ? chosen : "configuration"}
        onChoose={(tab) => setQuery({ tab, q: null, group: null, set: null })}
      />
    </Page>
  );
}
