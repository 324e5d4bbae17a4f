import { useState } from "preact/hooks";
import type { ConfigWritten } from "../../api/schema.ts";
import type { LoadedConfig } from "../../parts/config/use-config.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Check } from "../../parts/controls/field.tsx";
import { SearchInput } from "../../parts/controls/search-input.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Empty, ErrorBox, Skeleton } from "../../parts/layout/states.tsx";
import { query, setQuery } from "../../state/location.ts";
import { text } from "../../text/text.ts";
import { needsTrial, readOidc, TrialDialog } from "./oidc-trial.tsx";
import { ReviewDialog } from "./review-dialog.tsx";
import { problemWithin } from "./setting-draft.ts";
import { SettingRow } from "./setting-row.tsx";
import { printValue } from "./setting-rows.ts";
import { type FormSetting, GROUP_IDS, type GroupId, OWN_SCREENS, searchSettings } from "./setting-tree.ts";
import { type SettingsForm, useSettings } from "./use-settings.ts";

/** All settings in groups, with a search, and a bar that stores what was changed. */
export function Configuration() {
  const form = useSettings();
  const { data } = form.config;
  if (form.loadError !== null && (data === null || form.settings === null))
    return <ErrorBox error={form.loadError} onRetry={form.reload} />;
  if (data === null || form.settings === null) return <Skeleton lines={12} />;
  return <Groups form={form} data={data} settings={form.settings} />;
}

interface GroupsProps {
  readonly form: SettingsForm;
  readonly data: LoadedConfig;
  readonly settings: readonly FormSetting[];
}

function Groups({ form, data, settings }: GroupsProps) {
  const typed = query.value["q"] ?? "";
  const setOnly = query.value["set"] === "1";
  const isSearch = typed.trim() !== "" || setOnly;
  const group = GROUP_IDS.find((id) => id === query.value["group"]) ?? "limits";
  const isSet = (setting: FormSetting) => {
    const { isChanged, inForce } = form.stateOf(setting, data);
    return isChanged || (inForce !== null && inForce.source !== "default");
  };
  const found = searchSettings(settings, typed, (one) => printValue(form.stateOf(one, data).inForce?.value));
  const shown = isSearch
    ? found.filter((setting) => !setOnly || isSet(setting))
    : settings.filter((setting) => setting.group === group);
  return (
    <div class="settings-layout">
      <div class="settings-side">
        <SearchInput label={text.settings.search} value={typed} onInput={(q) => setQuery({ q })} />
        <Check
          label={text.settings.setOnly}
          isChecked={setOnly}
          onChange={(isChecked) => setQuery({ set: isChecked ? "1" : null })}
        />
        <GroupNav form={form} settings={settings} chosen={isSearch ? null : group} />
      </div>
      <div class="stack settings-main">
        {shown.length === 0 ? (
          <Empty title={text.settings.noMatch}>
            <p>{text.settings.noMatchAbout}</p>
          </Empty>
        ) : null}
        {GROUP_IDS.map((id) => {
          const rows = shown.filter((setting) => setting.group === id);
          return rows.length === 0 ? null : (
            <section key={id} class="card" aria-label={text.settings.groups[id]}>
              <div class="card-head">
                <h2>{text.settings.groups[id]}</h2>
              </div>
              {rows.map((setting) => (
                <SettingRow key={setting.path.join(".")} setting={setting} form={form} data={data} />
              ))}
            </section>
          );
        })}
        <SaveSettings form={form} settings={settings} data={data} />
      </div>
    </div>
  );
}

function GroupNav(props: { form: SettingsForm; settings: readonly FormSetting[]; chosen: GroupId | null }) {
  const { form, settings, chosen } = props;
  const groups = GROUP_IDS.filter((id) => settings.some(({ group }) => group === id));
  const hasProblem = (id: GroupId) =>
    settings.some(({ group, path }) => group === id && problemWithin(form.problems, path) !== null);
  return (
    <nav class="settings-nav" aria-label={text.settings.groupsLabel}>
      {groups.map((id) => (
        <a
          key={id}
          href={`/console/settings?group=${id}`}
          aria-current={id === chosen ? "true" : undefined}
          class={hasProblem(id) ? "bad" : undefined}
        >
          {text.settings.groups[id]}
        </a>
      ))}
      <span class="faint settings-elsewhere">{text.settings.elsewhere}</span>
      {Object.entries(OWN_SCREENS)
        .filter(([name]) => name !== "tiers")
        .map(([name, href]) => (
          <a key={name} href={href}>
            {text.settings.ownScreens[name as keyof typeof text.settings.ownScreens]}
          </a>
        ))}
    </nav>
  );
}

/** The bar that appears with the first change: what is wrong, a review of the changes, and a way back. */
function SaveSettings({ form, settings, data }: GroupsProps) {
  // The difference that was looked at belongs to exactly these edits.
  const [review, setReview] = useState<{ readonly of: string; readonly written: ConfigWritten } | null>(null);
  const [isTrialOpen, setTrialOpen] = useState(true);
  const [isBusy, setBusy] = useState(false);
  const { edits, error, problems } = form;
  if (edits.length === 0) return null;
  const check = async () => {
    setTrialOpen(true);
    setBusy(true);
    const written = await form.preview();
    setReview(written === null ? null : { of: JSON.stringify(edits), written });
    setBusy(false);
  };
  const known = settings.filter(({ path }) => problemWithin(problems, path) !== null);
  return (
    <section class="save-settings" aria-label={text.settings.unsaved(edits.length)}>
      {error === null || needsTrial(error) ? null : known.length > 0 ? (
        <Problems settings={known} form={form} />
      ) : (
        <FormError error={error} form={form.hasSecret ? undefined : form.form} />
      )}
      <div class="row wrap">
        <span class="strong-name grow">{text.settings.unsaved(edits.length)}</span>
        <Button kind="bare" onClick={form.discard}>
          {text.lists.discard}
        </Button>
        <Button kind="primary" isBusy={isBusy} onClick={check}>
          {text.settings.review}
        </Button>
      </div>
      {needsTrial(error) && isTrialOpen ? (
        <TrialDialog
          oidc={readOidc(form, settings, data)}
          onSucceeded={() => void check()}
          onClose={() => setTrialOpen(false)}
        />
      ) : null}
      {review?.of === JSON.stringify(edits) ? (
        <ReviewDialog form={form} written={review.written} onClose={() => setReview(null)} />
      ) : null}
    </section>
  );
}

function Problems({ settings, form }: { settings: readonly FormSetting[]; form: SettingsForm }) {
  return (
    <div class="error-box" role="alert">
      <ul class="grow">
        {settings.map(({ path, group }) => (
          <li key={path.join(".")}>
            <a href={`/console/settings?group=${group}`}>
              <code>{path.join(".")}</code>
            </a>{" "}
            {problemWithin(form.problems, path)}
          </li>
        ))}
      </ul>
    </div>
  );
}
