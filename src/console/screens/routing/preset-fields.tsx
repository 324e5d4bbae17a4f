import { Combobox } from "../../parts/controls/combobox.tsx";
import { TextArea } from "../../parts/controls/field.tsx";
import { ListInput } from "../../parts/controls/list-input.tsx";
import type { Schema } from "../../parts/schema/schema.ts";
import { SchemaField } from "../../parts/schema/schema-field.tsx";
import type { Option } from "../../state/filter-options.ts";
import { loadOptions } from "../../state/names.ts";
import { text } from "../../text/text.ts";
import { PARAMETERS, PREFERENCES } from "./preset-schema.ts";
import { type PresetDefinition, withoutUndefined } from "./route-definition.ts";

/** The fields of a preset: its model and fallbacks, the text before the request's, and what the request does not say itself. */
export function PresetFields({
  definition,
  onChange,
  options,
  errorOf,
}: {
  definition: PresetDefinition;
  onChange: (definition: PresetDefinition) => void;
  options: readonly Option[];
  errorOf: (field: string) => string | null;
}) {
  const set = (change: Partial<PresetDefinition>) => onChange(withoutUndefined({ ...definition, ...change }));
  const part = (name: "parameters" | "provider", schema: Schema) => (
    <details class="schema-folded" open={definition[name] !== undefined}>
      <summary>{text.routing.presetParts[name]}</summary>
      <SchemaField
        schema={schema}
        path={[name]}
        label={text.routing.presetParts[name]}
        value={definition[name]}
        onChange={(value) => set({ [name]: isEmpty(value) ? undefined : value })}
        form={{ errorOf: (path) => errorOf(path.join(".")), secrets: [], Field: SchemaField }}
        hidesLabel
      />
    </details>
  );
  return (
    <>
      <Combobox
        label={text.routing.presetModel}
        hint={text.routing.presetModelHint}
        error={errorOf("model")}
        value={definition.model ?? null}
        options={options}
        onOpen={() => loadOptions("models")}
        onChange={(model) => set({ model: model ?? undefined })}
        allowsOther
      />
      <ListInput
        label={text.routing.fallbacks}
        hint={text.routing.fallbacksHint}
        error={errorOf("models")}
        value={(definition.models ?? []).join("\n")}
        options={options}
        onOpen={() => loadOptions("models")}
        onInput={(typed) => {
          const models = typed.split("\n").filter(Boolean);
          set({ models: models.length === 0 ? undefined : models });
        }}
      />
      <TextArea
        label={text.routing.system}
        hint={text.routing.systemHint}
        rows={4}
        error={errorOf("system")}
        value={definition.system ?? ""}
        onInput={(typed) => set({ system: typed === "" ? undefined : typed })}
      />
      {part("parameters", PARAMETERS)}
      {part("provider", PREFERENCES)}
    </>
  );
}

function isEmpty(value: unknown): boolean {
  return value === undefined || Object.keys(value as object).length === 0;
}
