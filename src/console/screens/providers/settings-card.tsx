import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { LoadedConfig } from "../../parts/config/config-types.ts";
import { PinnedNote } from "../../parts/config/pinned-note.tsx";
import { findPinned, findSecret, inForceAt, listPinned } from "../../parts/config/read-config.ts";
import { SecretField } from "../../parts/config/secret-field.tsx";
import { Button } from "../../parts/controls/button.tsx";
import { Field, Select, TextArea } from "../../parts/controls/field.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { showToast } from "../../parts/layout/toast.tsx";
import { text } from "../../text/text.ts";
import { pathOf } from "./provider-rows.ts";
import {
  type HeaderDraft,
  isJson,
  listEdits,
  readDraft,
  type SettingName,
  type SettingsDraft,
} from "./settings-draft.ts";
import type { ProviderPart } from "./use-providers.ts";

const words = text.providers.provider;

/** What the fields of the form get. */
interface FieldsProps {
  readonly part: ProviderPart;
  readonly config: LoadedConfig;
  readonly draft: SettingsDraft;
  readonly onChange: (changes: Partial<SettingsDraft>) => void;
}

/** The settings of a provider. Those of a file or variable are shown and cannot be changed. */
export function SettingsCard(part: ProviderPart) {
  const config = part.providers.config.data;
  return config === null ? null : <SettingsForm part={part} config={config} />;
}

function SettingsForm({ part, config }: { part: ProviderPart; config: LoadedConfig }) {
  const { slug } = part.row;
  // Only what was typed: the rest follows the configuration, which others may change in the meantime.
  const [typed, setTyped] = useState<Partial<SettingsDraft>>({});
  const before = readDraft(slug, config);
  const draft = { ...before, ...typed };
  const saving = useAction();
  const edits = isJson(draft.takes) && isJson(draft.send) ? listEdits(slug, before, draft) : null;
  const isChanged = edits === null || edits.length > 0;
  const save = () =>
    saving.run(async () => {
      if (edits === null || edits.length === 0) return;
      await part.providers.config.save(edits);
      setTyped({});
      showToast(words.saved);
      part.providers.reload();
    });
  const fields = {
    part,
    config,
    draft,
    onChange: (changes: Partial<SettingsDraft>) => setTyped({ ...typed, ...changes }),
  };
  return (
    <section class="card" aria-label={words.settings}>
      <div class="card-head">
        <h2>{words.settings}</h2>
        {part.setup?.is_own_host ? null : <span class="quiet">{words.settingsAbout}</span>}
      </div>
      <form
        class="stack card-body"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <FormError error={saving.error} />
        <Address {...fields} />
        <Headers {...fields} />
        <Privacy {...fields} />
        <Advanced {...fields} />
        <div class="row wrap">
          <Button kind="primary" isSubmit isBusy={saving.isBusy} isDisabled={!isChanged || edits === null}>
            {text.lists.save}
          </Button>
          {isChanged ? (
            <>
              <Button kind="bare" onClick={() => setTyped({})}>
                {text.lists.discard}
              </Button>
              <span class="faint">{text.lists.unsaved}</span>
            </>
          ) : null}
        </div>
      </form>
    </section>
  );
}

/** A field, or the value that a file or variable sets in its place. */
function Editable(props: {
  slug: string;
  config: LoadedConfig;
  name: SettingName;
  label: string;
  children: ComponentChildren;
}) {
  const path = pathOf(props.slug, props.name);
  const pinned = findPinned(props.config, path) ?? listPinned(props.config, path)[0] ?? null;
  if (pinned === null) return <>{props.children}</>;
  const value = inForceAt(props.config, path);
  return (
    <div class="field">
      <span class="field-label">{props.label}</span>
      <code class="breaks">{printValue(value)}</code>
      <PinnedNote pinned={pinned} />
    </div>
  );
}

function printValue(value: unknown): string {
  if (value === undefined) return text.config.none;
  if (typeof value === "boolean") return words.choices[`${value}`];
  return typeof value === "string" ? value : JSON.stringify(value);
}

function Address({ part, config, draft, onChange }: FieldsProps) {
  const { setup, row } = part;
  const parts = setup?.parts ?? [];
  const hint =
    setup?.base_url && !setup.is_own_host ? text.providers.connect.baseUrlHint(setup.base_url) : null;
  return (
    <div class="fields two">
      <Editable slug={row.slug} config={config} name="base_url" label={text.providers.connect.baseUrl}>
        <Field
          label={text.providers.connect.baseUrl}
          hint={hint}
          value={draft.base_url}
          onInput={(base_url) => onChange({ base_url })}
        />
      </Editable>
      {parts.map((one) => {
        const label = text.providers.connect.parts[one.name] ?? one.name;
        return (
          <Editable key={one.name} slug={row.slug} config={config} name="parts" label={label}>
            <Field
              label={label}
              hint={
                one.default === null
                  ? text.providers.connect.partHints[one.name]
                  : text.providers.connect.partDefault(one.default)
              }
              value={draft.parts[one.name] ?? ""}
              onInput={(value) => onChange({ parts: { ...draft.parts, [one.name]: value } })}
            />
          </Editable>
        );
      })}
    </div>
  );
}

function Headers({ part, config, draft, onChange }: FieldsProps) {
  const { headers } = draft;
  const replace = (at: number, header: HeaderDraft | null) =>
    onChange({ headers: headers.flatMap((one, index) => (index === at ? (header ?? []) : one)) });
  return (
    <Editable slug={part.row.slug} config={config} name="headers" label={words.headers}>
      <fieldset class="column headers">
        <legend class="field-label">{words.headers}</legend>
        <p class="field-hint">{words.headersHint}</p>
        {headers.map((header, at) => (
          <div key={at} class="header-row">
            <Field
              label={words.headerName}
              value={header.name}
              onInput={(name) => replace(at, { ...header, name })}
            />
            <SecretField
              label={words.headerValue}
              stored={
                header.stored === null ? null : (findSecret(config, header.stored) ?? { last_four: "" })
              }
              value={header.value}
              onInput={(value) => replace(at, { ...header, value })}
            />
            <Button
              kind="bare"
              icon="trash"
              label={words.removeHeader(header.name)}
              onClick={() => replace(at, null)}
            />
          </div>
        ))}
        <div>
          <Button
            size="small"
            icon="plus"
            onClick={() => onChange({ headers: [...headers, { name: "", value: "", stored: null }] })}
          >
            {words.addHeader}
          </Button>
        </div>
      </fieldset>
    </Editable>
  );
}

function Privacy({ part, config, draft, onChange }: FieldsProps) {
  const { slug } = part.row;
  const choices = Object.entries(words.choices).map(([value, label]) => ({
    value,
    label: value === "" && part.setup?.is_own_host ? words.notStated : label,
  }));
  return (
    <div class="fields two">
      <Editable slug={slug} config={config} name="trains_on_data" label={words.trains}>
        <Select
          label={words.trains}
          hint={words.trainsHint}
          value={draft.trains_on_data}
          choices={choices}
          onChange={(trains_on_data) => onChange({ trains_on_data })}
        />
      </Editable>
      <Editable slug={slug} config={config} name="zero_retention" label={words.retention}>
        <Select
          label={words.retention}
          hint={words.retentionHint}
          value={draft.zero_retention}
          choices={choices}
          onChange={(zero_retention) => onChange({ zero_retention })}
        />
      </Editable>
    </div>
  );
}

function Advanced({ part, config, draft, onChange }: FieldsProps) {
  return (
    <details class="advanced" open={draft.takes !== "" || draft.send !== ""}>
      <summary>{words.advanced}</summary>
      {(["takes", "send"] as const).map((name) => (
        <Editable key={name} slug={part.row.slug} config={config} name={name} label={words.json[name]}>
          <TextArea
            label={words.json[name]}
            rows={5}
            value={draft[name]}
            error={isJson(draft[name]) ? null : words.badJson}
            onInput={(typed) => onChange({ [name]: typed })}
          />
        </Editable>
      ))}
    </details>
  );
}
