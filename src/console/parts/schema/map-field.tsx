import { text } from "../../text/text.ts";
import { AddName } from "../controls/add-name.tsx";
import { Button } from "../controls/button.tsx";
import { FieldError } from "../controls/field-error.tsx";
import { Prose } from "../values/prose.tsx";
import type { SchemaFieldProps } from "./field-props.ts";
import { isShort, type Schema, startValue, withMember } from "./schema.ts";

/** The entries of a map by their names, and a field that adds one. */
export function MapField(props: SchemaFieldProps) {
  const { schema, label, hidesLabel, value, onChange, path, form } = props;
  const member = schema.additionalProperties as Schema;
  const entries = Object.entries((value ?? {}) as Readonly<Record<string, unknown>>);
  const change = (name: string, next: unknown) => {
    const changed = withMember(value, name, next);
    onChange(Object.keys(changed).length === 0 && schema.default === undefined ? undefined : changed);
  };
  const error = form.errorOf(path);
  const { Field: Value } = form;
  return (
    <fieldset class="field schema-map">
      <legend class={hidesLabel ? "visually-hidden" : "field-label"}>{label}</legend>
      {hidesLabel ? null : (
        <div class="field-hint">
          <Prose>{schema.description ?? ""}</Prose>
        </div>
      )}
      {entries.map(([name, one]) => (
        <div key={name} class={isShort(member) ? "map-entry short" : "map-entry"}>
          <div class="row">
            <code class="strong grow breaks">{name}</code>
            {isShort(member) ? null : <Remove name={name} onClick={() => change(name, undefined)} />}
          </div>
          <Value
            schema={member}
            path={[...path, name]}
            label={name}
            value={one}
            form={form}
            onChange={(next) => change(name, next ?? (isShort(member) ? "" : {}))}
            hidesLabel
          />
          {isShort(member) ? <Remove name={name} onClick={() => change(name, undefined)} /> : null}
        </div>
      ))}
      <AddName
        class="add-entry"
        label={text.schema.nameOfEntry(label)}
        placeholder={text.schema.entryName}
        buttonText={text.schema.add}
        onAdd={(name) => change(name, startValue(member) ?? "")}
      />
      <FieldError error={error} />
    </fieldset>
  );
}

function Remove({ name, onClick }: { name: string; onClick: () => void }) {
  return (
    <Button kind="bare" size="small" icon="trash" label={text.schema.removeLabel(name)} onClick={onClick} />
  );
}
