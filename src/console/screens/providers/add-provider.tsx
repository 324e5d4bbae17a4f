import { useState } from "preact/hooks";
import type { ConfigProvider } from "../../api/schema.ts";
import { storedAt } from "../../parts/config/read-config.ts";
import { Button } from "../../parts/controls/button.tsx";
import { SearchInput } from "../../parts/controls/search-input.tsx";
import { Dialog } from "../../parts/layout/dialog.tsx";
import { ErrorBox, Skeleton } from "../../parts/layout/states.tsx";
import { Disc } from "../../parts/values/disc.tsx";
import { Icon } from "../../parts/values/icon.tsx";
import { text } from "../../text/text.ts";
import { ConnectHost, type HostKind } from "./connect-host.tsx";
import { ConnectProvider } from "./connect-provider.tsx";
import { findSetups, listProviderRows, pathOf } from "./provider-rows.ts";
import { type Providers, useProviders } from "./use-providers.ts";

const words = text.providers;

/** Providers that many people look for, in this order. */
const POPULAR = [
  "openai",
  "anthropic",
  "google",
  "azure",
  "amazon-bedrock",
  "google-vertex",
  "openrouter",
  "mistral",
  "deepseek",
  "xai",
  "groq",
  "togetherai",
];

type Step =
  | { readonly kind: "choose" }
  | { readonly kind: "provider"; readonly setup: ConfigProvider }
  | { readonly kind: "host"; readonly host: HostKind }
  | { readonly kind: "done"; readonly slug: string; readonly name: string; readonly model: string | null };

/** Adds a provider in steps: choose it, enter its key, test, save. */
export function AddProvider({ onClose }: { onClose: () => void }) {
  const providers = useProviders();
  const [step, setStep] = useState<Step>({ kind: "choose" });
  const choose = () => setStep({ kind: "choose" });
  const finish = (slug: string, name: string, model: string | null) => {
    providers.reload();
    setStep({ kind: "done", slug, name, model });
  };
  const { config } = providers;
  if (step.kind === "provider")
    return (
      <ConnectProvider setup={step.setup} config={config} onBack={choose} onDone={finish} onClose={onClose} />
    );
  if (step.kind === "host")
    return (
      <ConnectHost
        host={step.host}
        config={config}
        taken={(providers.lists.data?.setups ?? []).map(({ slug }) => slug)}
        formats={providers.lists.data?.hostFormats ?? []}
        onBack={choose}
        onDone={finish}
        onClose={onClose}
      />
    );
  if (step.kind === "done") return <Done step={step} providers={providers} onClose={onClose} />;
  return (
    <Choose
      providers={providers}
      onChoose={(setup) => setStep({ kind: "provider", setup })}
      onHost={(host) => setStep({ kind: "host", host })}
      onClose={onClose}
    />
  );
}

function Choose(props: {
  providers: Providers;
  onChoose: (setup: ConfigProvider) => void;
  onHost: (host: HostKind) => void;
  onClose: () => void;
}) {
  const { providers } = props;
  const [typed, setTyped] = useState("");
  const { data } = providers.lists;
  return (
    <Dialog title={words.choose.title} isWide onClose={props.onClose}>
      <SearchInput label={words.choose.search} value={typed} onInput={setTyped} hasFocus />
      {providers.error === null ? null : <ErrorBox error={providers.error} onRetry={providers.reload} />}
      {data === null ? (
        <Skeleton lines={8} />
      ) : (
        <Choices {...props} setups={findSetups(data.setups, typed)} isFiltered={typed.trim() !== ""} />
      )}
    </Dialog>
  );
}

function Choices(props: {
  providers: Providers;
  setups: readonly ConfigProvider[];
  isFiltered: boolean;
  onChoose: (setup: ConfigProvider) => void;
  onHost: (host: HostKind) => void;
}) {
  const { setups, isFiltered, providers } = props;
  const added = listAdded(providers);
  const popular = isFiltered ? [] : POPULAR.flatMap((slug) => setups.find((one) => one.slug === slug) ?? []);
  const tiles = (shown: readonly ConfigProvider[]) =>
    shown.map((setup) => (
      <ProviderTile
        key={setup.slug}
        setup={setup}
        isAdded={added.has(setup.slug)}
        onChoose={() => props.onChoose(setup)}
      />
    ));
  return (
    <div class="provider-choices">
      {popular.length === 0 ? null : (
        <section>
          <h3>{words.choose.popular}</h3>
          <div class="tiles">{tiles(popular)}</div>
        </section>
      )}
      <section>
        <h3>{words.choose.own}</h3>
        <div class="tiles">
          {(Object.keys(words.choose.hosts) as HostKind[]).map((host) => (
            <button key={host} type="button" class="tile" onClick={() => props.onHost(host)}>
              <Disc name={words.choose.hosts[host].name} />
              <span class="tile-text">
                <span class="cut">{words.choose.hosts[host].name}</span>
                <span class="faint cut">{words.choose.hosts[host].baseUrl || words.choose.hostAbout}</span>
              </span>
            </button>
          ))}
        </div>
      </section>
      <section>
        <h3>{words.choose.all}</h3>
        {setups.length === 0 ? <p class="quiet">{words.choose.none}</p> : null}
        <div class="tiles">{tiles(setups)}</div>
      </section>
    </div>
  );
}

/** Returns the providers that are configured: they are changed on their own pages. */
function listAdded({ config, lists }: Providers): ReadonlySet<string> {
  if (config.data === null || lists.data === null) return new Set();
  return new Set(listProviderRows(config.data, lists.data).map(({ slug }) => slug));
}

function ProviderTile(props: { setup: ConfigProvider; isAdded: boolean; onChoose: () => void }) {
  const { slug, name, catalog_models } = props.setup;
  const inside = (
    <>
      <Disc name={name} />
      <span class="tile-text">
        <span>{name}</span>
        <span class="faint cut">
          {props.isAdded ? words.choose.configured : words.choose.models(catalog_models)}
        </span>
      </span>
    </>
  );
  return props.isAdded ? (
    <a class="tile" href={`/console/providers/${slug}`}>
      {inside}
    </a>
  ) : (
    <button type="button" class="tile" onClick={props.onChoose}>
      {inside}
    </button>
  );
}

function Done(props: { step: Extract<Step, { kind: "done" }>; providers: Providers; onClose: () => void }) {
  const { slug, name, model } = props.step;
  const { config, lists } = props.providers;
  const models = lists.data?.setups.find((one) => one.slug === slug)?.models ?? 0;
  const isStored = config.data !== null && storedAt(config.data, pathOf(slug)) !== undefined;
  return (
    <Dialog
      title={words.done.title(name)}
      onClose={props.onClose}
      foot={<Button onClick={props.onClose}>{words.done.close}</Button>}
    >
      {lists.isLoading || !isStored ? (
        <Skeleton lines={2} />
      ) : (
        <>
          <p class="row good" role="status">
            <Icon name="check" />
            <strong>{models === 0 ? words.done.none : words.done.models(models)}</strong>
          </p>
          <div class="row wrap">
            {models === 0 ? null : (
              <>
                <a
                  class="button primary"
                  href={`/console/playground${model === null ? "" : `?models=${encodeURIComponent(model)}`}`}
                >
                  {words.done.tryIt}
                </a>
                <a class="button" href={`/console/models?provider=${encodeURIComponent(slug)}`}>
                  {words.done.seeModels}
                </a>
              </>
            )}
            <a class="button" href={`/console/providers/${slug}`}>
              {words.done.open}
            </a>
          </div>
        </>
      )}
    </Dialog>
  );
}
