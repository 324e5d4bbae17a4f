import { useState } from "preact/hooks";
import { PinnedNote } from "../../parts/config/pinned-note.tsx";
import { findPinned, listPinned } from "../../parts/config/read-config.ts";
import type { LoadedConfig } from "../../parts/config/use-config.ts";
import { Button } from "../../parts/controls/button.tsx";
import { FormOrJson } from "../../parts/forms/form-or-json.tsx";
import { JsonField } from "../../parts/schema/json-field.tsx";
import { isShort, kindOf } from "../../parts/schema/schema.ts";
import { SchemaField } from "../../parts/schema/schema-field.tsx";
import { unitOf } from "../../parts/schema/units.ts";
import { Badge } from "../../parts/values/badge.tsx";
import { Prose } from "../../parts/values/prose.tsx";
import { text } from "../../text/text.ts";
import { problemAt } from "./setting-draft.ts";
import { printValue } from "./setting-rows.ts";
import type { FormSetting } from "./setting-tree.ts";
import type { SettingState, SettingsForm } from "./use-settings.ts";

/** A setting: its name and description, its field or its value in force, and where the value comes from. */
export function SettingRow(props: { setting: FormSetting; form: SettingsForm; data: LoadedConfig }) {
  const { setting, form, data } = props;
  const state = form.stateOf(setting, data);
  const { path, schema, title } = setting;
  const isWide = !isShort(schema);
  return (
    <div class={isWide ? "setting wide" : "setting"} data-setting={path.join(".")}>
      <div class="setting-about">
        <div class="row wrap">
          <span class="strong-name">{title}</span>
          <Marks setting={setting} state={state} />
        </div>
        <code class="faint breaks">{path.join(".")}</code>
        <p class="quiet">
          <Prose>{schema.description ?? ""}</Prose>
        </p>
      </div>
      <div class="setting-value">
        <Value {...props} state={state} />
      </div>
    </div>
  );
}

function Marks({ setting, state }: { setting: FormSetting; state: SettingState }) {
  const { inForce, isChanged } = state;
  return (
    <>
      {isChanged ? <Badge tone="accent">{text.settings.changed}</Badge> : null}
      {inForce?.source === "database" ? <Badge tone="good">{text.settings.sources.database}</Badge> : null}
      {inForce?.awaits_restart ? (
        <Badge tone="warn">{text.settings.awaitsRestart}</Badge>
      ) : setting.needsRestart ? (
        <Badge>{text.settings.needsRestart}</Badge>
      ) : null}
    </>
  );
}

function Value(props: { setting: FormSetting; form: SettingsForm; data: LoadedConfig; state: SettingState }) {
  const { setting, form, data, state } = props;
  const { path, schema, title } = setting;
  const [isJson, setJson] = useState(false);
  const hasJson = ["list", "map"].includes(kindOf(schema));
  const pinned = findPinned(data, path);
  if (setting.isFileOnly || pinned !== null)
    return (
      <>
        <InForce setting={setting} state={state} />
        {pinned === null ? <p class="faint">{text.settings.fileOnly}</p> : <PinnedNote pinned={pinned} />}
      </>
    );
  const entries = listPinned(data, path);
  const Editor = isJson ? JsonField : SchemaField;
  return (
    <>
      {entries.length === 0 ? null : (
        <ul class="pinned-entries">
          {entries.map((entry) => (
            <li key={entry.path.join(".")}>
              <code class="strong">{entry.path.slice(path.length).join(".")}</code>{" "}
              <PinnedNote pinned={entry} />
            </li>
          ))}
        </ul>
      )}
      {hasJson ? (
        <FormOrJson
          label={text.settings.editAsJson(title)}
          isJson={isJson}
          onToggle={() => setJson(!isJson)}
        />
      ) : null}
      <Editor
        schema={schema}
        path={path}
        label={title}
        value={state.value}
        onChange={(value) => form.change(path, value)}
        form={{
          errorOf: (at) => problemAt(form.problems, at),
          secrets: data.stored.secrets,
          Field: SchemaField,
        }}
        hidesLabel
      />
      <Below setting={setting} state={state} onReset={() => form.change(path, undefined)} />
    </>
  );
}

/** The default of a setting, and a button that sets it back. */
function Below(props: { setting: FormSetting; state: SettingState; onReset: () => void }) {
  const { setting, state } = props;
  const { default: byDefault } = setting.schema;
  const printed = printDefault(setting);
  return (
    <div class="row wrap setting-below">
      <span class="faint">
        {byDefault === undefined ? text.settings.noDefault : text.settings.byDefault(printed)}
      </span>
      {state.value === undefined ? null : (
        <Button
          kind="bare"
          size="small"
          label={text.settings.resetLabel(setting.title)}
          onClick={props.onReset}
        >
          {text.settings.reset}
        </Button>
      )}
    </div>
  );
}

function printDefault({ path, schema }: FormSetting): string {
  const { default: value } = schema;
  const human = typeof value === "number" ? unitOf(path.at(-1) ?? "")?.print(value) : null;
  const printed = printValue(value);
  return human ? `${printed} (${human})` : printed === "" ? text.settings.noValue : printed;
}

function InForce({ setting, state }: { setting: FormSetting; state: SettingState }) {
  const value = state.inForce?.value ?? setting.schema.default;
  const printed = printValue(value);
  const human = typeof value === "number" ? unitOf(setting.path.at(-1) ?? "")?.print(value) : null;
  return (
    <output class="setting-fixed" aria-label={setting.title}>
      {printed === "" ? (
        <span class="faint">{text.settings.noValue}</span>
      ) : (
        <code class="breaks">{printed}</code>
      )}
      {human ? <span class="quiet"> = {human}</span> : null}
    </output>
  );
}
