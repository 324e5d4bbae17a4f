import { useEffect, useMemo, useState } from "preact/hooks";
import { atBase } from "../../api/base.ts";
import { APIS, type Api } from "../../conversation/conversation.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Segments } from "../../parts/controls/segments.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { showFailure, showToast } from "../../parts/layout/toast.tsx";
import { copyText } from "../../parts/values/values.tsx";
import { useCatalog } from "../../state/catalog/load-models.ts";
import type { CatalogList } from "../../state/catalog/model-types.ts";
import { chooseExampleModel } from "../../state/example-model.ts";
import { query, setQuery } from "../../state/location.ts";
import { readStored, store } from "../../state/stored.ts";
import { text } from "../../text/text.ts";
import { Composer } from "./composer.tsx";
import { LaneView } from "./lane.tsx";
import { listModelOptions, type ModelOption } from "./model-options.ts";
import { loadRecorded } from "./open-request.ts";
import { SettingsPane } from "./settings.tsx";
import { printShared, readShared } from "./share.ts";
import {
  api,
  clearConversation,
  conversationOf,
  keyError,
  lanes,
  openRequest,
  SANDBOX,
  setModels,
} from "./state.ts";
import { WirePane } from "./wire.tsx";

const words = text.playground;
const API_CHOICES = APIS.map((value) => ({ value, label: words.apis[value] }));
type Pane = keyof typeof words.panes;
const PANE_CHOICES = (Object.keys(words.panes) as Pane[]).map((value) => ({
  value,
  label: words.panes[value],
}));

/** `/console/playground`: talks to models over each of the three APIs. `?models=`, `?from=` and a share link open a request. */
export default function Playground() {
  const { data } = useCatalog();
  const options = useMemo(() => (data === null ? [] : listModelOptions(data)), [data]);
  const [pane, setPane] = useState<Pane>("talk");
  const [hasWire, setWire] = useState(() => readStored("playground-wire") !== "hidden");
  useOpenedRequest();
  useServedModel(data);
  const toggleWire = () => {
    store("playground-wire", hasWire ? "hidden" : null);
    setWire(!hasWire);
  };
  return (
    <Page title={words.title} fills actions={<Actions hasWire={hasWire} onToggleWire={toggleWire} />}>
      <div class="playground-panes">
        <Segments label={words.pane} value={pane} choices={PANE_CHOICES} onChange={setPane} />
      </div>
      <div class={`playground show-${pane}${hasWire ? "" : " no-wire"}`}>
        <Talk options={options} />
        <section class="pane settings-pane" aria-label={words.panes.settings}>
          <SettingsPane options={options} />
        </section>
        <section class="pane wire-pane" aria-label={words.panes.wire}>
          <WirePane />
        </section>
      </div>
    </Page>
  );
}

function Actions({ hasWire, onToggleWire }: { hasWire: boolean; onToggleWire: () => void }) {
  return (
    <>
      <Segments
        label={words.api}
        value={api.value}
        choices={API_CHOICES}
        onChange={(chosen: Api) => {
          api.value = chosen;
        }}
      />
      <Button onClick={clearConversation}>{words.clear}</Button>
      <Button icon="link" label={words.share} onClick={() => void share()} />
      <span class="wire-toggle">
        <Button
          icon="columns"
          label={hasWire ? words.wireHide : words.wireShow}
          isPressed={hasWire}
          onClick={onToggleWire}
        />
      </span>
    </>
  );
}

function Talk({ options }: { options: readonly ModelOption[] }) {
  const isCompared = lanes.value.length > 1;
  const nameOf = (model: string) => options.find(({ value }) => value === model)?.label ?? model;
  return (
    <section class="pane talk" aria-label={words.panes.talk}>
      <div class="lanes">
        {lanes.value.map((lane) => (
          <LaneView key={lane.id} lane={lane} name={isCompared ? nameOf(lane.model) : null} />
        ))}
      </div>
      {keyError.value === null ? null : (
        <div class="error-box" role="alert">
          <p>
            {words.keyError}: {keyError.value}
          </p>
        </div>
      )}
      <Composer />
    </section>
  );
}

async function share(): Promise<void> {
  const [first] = lanes.value;
  if (first === undefined) return;
  const models = lanes.value.map(({ model }) => model);
  const fragment = printShared({ api: api.value, models, conversation: conversationOf(first) });
  if (fragment === null) return showToast(words.shareTooLong, { isError: true });
  await copyText(`${window.location.origin}${atBase("/console/playground")}${fragment}`);
  showToast(words.shared);
}

/** Replaces the sandbox model, with which a conversation begins, by a served model: the sandbox is off once there is a provider key. */
function useServedModel(catalog: CatalogList | null): void {
  useEffect(() => {
    const [lane, ...others] = lanes.value;
    if (catalog === null || lane === undefined || others.length > 0 || lane.entries.length > 0) return;
    const served = catalog.data.filter(({ is_served }) => is_served).map(({ id }) => id);
    if (lane.model !== SANDBOX || served.length === 0 || served.includes(SANDBOX)) return;
    setModels([chooseExampleModel([...catalog.tiers.map(({ id }) => id), ...served])]);
  }, [catalog]);
}

/** Opens the request of a share link, of a recorded generation or of chosen models, and removes it from the address. */
function useOpenedRequest(): void {
  const { models, from } = query.value;
  useEffect(() => {
    const { hash, pathname, search } = window.location;
    if (!hash.startsWith("#share=")) return;
    const shared = readShared(hash);
    history.replaceState(null, "", pathname + search);
    if (shared === null) showToast(words.shareInvalid, { isError: true });
    else openRequest(shared);
  }, []);
  useEffect(() => {
    if (models === undefined) return;
    setModels(models.split(",").filter(Boolean));
    setQuery({ models: null });
  }, [models]);
  useEffect(() => {
    if (from === undefined) return;
    const controller = new AbortController();
    loadRecorded(from, controller.signal).then(
      (recorded) => {
        openRequest(recorded);
        showToast(recorded.hasBody ? words.opened : words.openedWithoutBody);
        setQuery({ from: null });
      },
      (error: unknown) => {
        if (!controller.signal.aborted) showFailure(error);
      },
    );
    return () => controller.abort();
  }, [from]);
}
