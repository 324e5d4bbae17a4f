import { useState } from "preact/hooks";
import { Changes } from "../../parts/config/changes.tsx";
import { findPinned, storedAt } from "../../parts/config/read-config.ts";
import { Button } from "../../parts/controls/button.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { Crumbs } from "../../parts/layout/crumbs.tsx";
import { Confirm } from "../../parts/layout/dialog.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { Empty, ErrorBox, Skeleton } from "../../parts/layout/states.tsx";
import { showFailure, showToast } from "../../parts/layout/toast.tsx";
import { Disc } from "../../parts/values/disc.tsx";
import { useLoad } from "../../state/load.ts";
import { navigate } from "../../state/location.ts";
import type { ScreenProps } from "../../state/screen.ts";
import { text } from "../../text/text.ts";
import { DrainProvider, Drains } from "../health/drain.tsx";
import { listDrains } from "../health/health-rows.ts";
import { ProviderKeys } from "./keys-card.tsx";
import { ProviderModels } from "./models-card.tsx";
import { listProviderRows, type ProviderRow, pathOf, toRow } from "./provider-rows.ts";
import { ProviderState } from "./providers.tsx";
import { SettingsCard } from "./settings-card.tsx";
import { TrialLines, type Trials, useTrial } from "./trials.tsx";
import { type ProviderPart, useProviders } from "./use-providers.ts";

const words = text.providers.provider;

/** `/console/providers/:slug`: the keys, models and settings of one provider. */
export default function Provider({ params }: ScreenProps) {
  const slug = params["slug"] ?? "";
  const providers = useProviders();
  const trials = useTrial();
  const { config, lists, error, reload } = providers;
  const isLoaded = config.data !== null && lists.data !== null;
  const row = config.data !== null && lists.data !== null ? toRow(slug, config.data, lists.data) : null;
  const setup = lists.data?.setups.find((one) => one.slug === slug) ?? null;
  const isKnown =
    setup !== null ||
    (config.data !== null &&
      lists.data !== null &&
      listProviderRows(config.data, lists.data).some((one) => one.slug === slug));
  const part = row === null ? null : { row, setup, providers };
  return (
    <Page
      title={row?.name ?? slug}
      heading={<Heading slug={slug} row={isKnown ? row : null} />}
      actions={part !== null && isKnown ? <Actions {...part} trials={trials} /> : null}
    >
      {error === null ? null : <ErrorBox error={error} onRetry={reload} />}
      {!isLoaded ? (
        error === null ? (
          <Skeleton lines={10} />
        ) : null
      ) : part === null || !isKnown ? (
        <Empty title={words.notFound}>
          <p>{words.notFoundAbout}</p>
          <a href="/console/providers">{words.allProviders}</a>
        </Empty>
      ) : (
        <div class="stack readable">
          <TrialLines trial={trials.trial} />
          <DrainNotes {...part} />
          <ProviderKeys {...part} />
          <ProviderModels {...part} />
          <SettingsCard {...part} />
        </div>
      )}
    </Page>
  );
}

function Heading({ slug, row }: { slug: string; row: ProviderRow | null }) {
  return (
    <Crumbs
      list={{ title: text.providers.title, address: "/console/providers" }}
      title={
        <span class="row">
          <Disc name={row?.name ?? slug} />
          {row?.name ?? slug}
        </span>
      }
    >
      <span class="faint mono">{slug}</span>
      {row === null ? null : <ProviderState row={row} />}
    </Crumbs>
  );
}

function DrainNotes({ row, providers }: ProviderPart) {
  if (row.health === null || listDrains(row.health).length === 0) return null;
  return <Drains row={row.health} onDone={providers.reload} />;
}

function Actions({ trials, ...part }: ProviderPart & { trials: Trials }) {
  const { row, providers } = part;
  const [open, setOpen] = useState<"drain" | "remove" | null>(null);
  const toggling = useAction();
  const { config } = providers;
  const isStored = config.data !== null && storedAt(config.data, pathOf(row.slug)) !== undefined;
  const isFree = config.data !== null && findPinned(config.data, pathOf(row.slug, "enabled")) === null;
  const isCalled = row.health !== null && row.health.keys.length > 0;
  const toggle = () =>
    toggling.run(async () => {
      await setEnabled(part, !row.isEnabled).catch(showFailure);
      providers.reload();
    });
  return (
    <>
      {isCalled ? (
        <>
          <Button
            isBusy={trials.trial?.kind === "running"}
            onClick={() => void trials.run(row.slug, undefined)}
          >
            {words.test}
          </Button>
          <Button onClick={() => setOpen("drain")}>{words.drain}</Button>
        </>
      ) : null}
      {(isStored || isCalled) && isFree ? (
        <Button isBusy={toggling.isBusy} onClick={() => void toggle()}>
          {row.isEnabled ? words.disable : words.enable}
        </Button>
      ) : null}
      {isStored ? (
        <Button kind="danger" onClick={() => setOpen("remove")}>
          {words.remove}
        </Button>
      ) : null}
      {open === "drain" && row.health !== null ? (
        <DrainProvider
          row={row.health}
          onClose={() => setOpen(null)}
          onDone={() => {
            setOpen(null);
            providers.reload();
          }}
        />
      ) : null}
      {open === "remove" ? <Remove {...part} onClose={() => setOpen(null)} /> : null}
    </>
  );
}

async function setEnabled({ row, providers }: ProviderPart, isEnabled: boolean): Promise<void> {
  const path = pathOf(row.slug, "enabled");
  await providers.config.save([isEnabled ? { path, remove: true } : { path, value: false }]);
  showToast(isEnabled ? words.enabledToast(row.name) : words.disabledToast(row.name));
}

function Remove({ row, providers, onClose }: ProviderPart & { onClose: () => void }) {
  const removing = useAction();
  const isAlsoElsewhere = row.sources.some((source) => source !== text.providers.stored);
  const edits = [{ path: pathOf(row.slug), remove: true as const }];
  const preview = useLoad("preview", () => providers.config.preview(edits));
  const remove = () =>
    removing.run(async () => {
      await providers.config.save(edits);
      showToast(words.removed(row.name));
      providers.reload();
      if (isAlsoElsewhere) onClose();
      else navigate("/console/providers");
    });
  return (
    <Confirm
      title={words.removeTitle(row.name)}
      action={words.remove}
      isBusy={removing.isBusy}
      onConfirm={() => void remove()}
      onClose={onClose}
    >
      <FormError error={removing.error} />
      <p>{words.removeAbout}</p>
      {isAlsoElsewhere ? <p>{words.removeKept}</p> : null}
      <FormError error={removing.error === null ? preview.error : null} />
      {preview.data === null ? null : (
        <details class="advanced">
          <summary>{words.removedSettings(preview.data.changes.length)}</summary>
          <Changes changes={preview.data.changes} />
        </details>
      )}
    </Confirm>
  );
}
