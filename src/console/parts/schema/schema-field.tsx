import { text } from "../../text/text.ts";
import { secretIdOf } from "../config/read-config.ts";
import { SecretField } from "../config/secret-field.tsx";
import { Combobox } from "../controls/combobox.tsx";
import { Check, Field, Select } from "../controls/field.tsx";
import { FieldError } from "../controls/field-error.tsx";
import { ListInput } from "../controls/list-input.tsx";
import { Prose } from "../values/prose.tsx";
import type { SchemaFieldProps } from "./field-props.ts";
import { ItemsField } from "./items-field.tsx";
import { JsonField } from "./json-field.tsx";
import { LinesField } from "./lines-field.tsx";
import { MapField } from "./map-field.tsx";
import { NumberField } from "./number-field.tsx";
import { ObjectField } from "./object-field.tsx";
import { kindOf } from "./schema.ts";
import { suggestFor, suggestOne } from "./suggestions.ts";
import { UnionField } from "./union-field.tsx";

/** A field for a value of a schema, of the kind that the schema asks for. */
export function SchemaField(props: SchemaFieldProps) {
  switch (kindOf(props.schema)) {
    case "switch":
      return <SwitchField {...props} />;
    case "choice":
      return <ChoiceField {...props} />;
    case "number":
      return <NumberField {...props} />;
    case "text":
      return <TextField {...props} />;
    case "secret":
      return <SchemaSecret {...props} />;
    case "texts":
      return <TextsField {...props} />;
    case "choices":
      return <ChoicesField {...props} />;
    case "list":
      return <ItemsField {...props} />;
    case "map":
      return <MapField {...props} />;
    case "object":
      return <ObjectField {...props} />;
    case "union":
      return <UnionField {...props} />;
    case "json":
      return <JsonField {...props} />;
  }
}

/** Returns the properties that all fields with a label and a hint have in common. */
function toCommon({ label, hidesLabel, schema, path, form }: SchemaFieldProps) {
  return {
    label,
    hidesLabel,
    hint: hidesLabel ? undefined : schema.description,
    error: form.errorOf(path),
  };
}

function nameOf({ path }: SchemaFieldProps): string {
  return path.at(-1) ?? "";
}

/** A boolean without a default may also be absent, which is a third choice. */
function SwitchField(props: SchemaFieldProps) {
  const { schema, value, onChange, label } = props;
  if (schema.default === undefined && schema.const === undefined)
    return (
      <Select
        {...toCommon(props)}
        value={value === undefined ? "" : String(value)}
        choices={[
          { value: "", label: text.schema.notSet },
          { value: "true", label: text.schema.yes },
          { value: "false", label: text.schema.no },
        ]}
        onChange={(chosen) => onChange(chosen === "" ? undefined : chosen === "true")}
      />
    );
  const error = props.form.errorOf(props.path);
  return (
    <div class="field">
      <Check
        label={props.hidesLabel ? <span class="visually-hidden">{label}</span> : label}
        isChecked={(value ?? schema.default) === true}
        onChange={(isChecked) => onChange(isChecked || schema.const === undefined ? isChecked : undefined)}
      />
      {props.hidesLabel ? null : (
        <div class="field-hint">
          <Prose>{schema.description ?? ""}</Prose>
        </div>
      )}
      <FieldError error={error} />
    </div>
  );
}

function ChoiceField(props: SchemaFieldProps) {
  const { schema, value, onChange } = props;
  const choices = (schema.enum ?? []).map((one) => ({ value: String(one), label: String(one) }));
  const none = schema.default === undefined ? [{ value: "", label: text.schema.notSet }] : [];
  return (
    <Select
      {...toCommon(props)}
      value={String(value ?? schema.default ?? "")}
      choices={[...none, ...choices]}
      onChange={(chosen) => onChange(chosen === "" ? undefined : chosen)}
    />
  );
}

function TextField(props: SchemaFieldProps) {
  const { schema, value, onChange } = props;
  const suggestions = suggestOne(nameOf(props));
  const change = (typed: string | null) => onChange(typed === null || typed === "" ? undefined : typed);
  const shown = value === undefined || value === null ? "" : String(value);
  if (suggestions !== null)
    return (
      <Combobox {...toCommon(props)} value={shown || null} onChange={change} allowsOther {...suggestions} />
    );
  return (
    <Field
      {...toCommon(props)}
      type={schema.format === "date" ? "date" : "text"}
      value={shown}
      placeholder={schema.default === undefined ? undefined : String(schema.default)}
      onInput={change}
    />
  );
}

function SchemaSecret(props: SchemaFieldProps) {
  const { value, onChange, form } = props;
  const isReference = secretIdOf(value) !== null;
  return (
    <SecretField
      {...toCommon(props)}
      stored={
        isReference ? (form.secrets.find(({ id }) => id === secretIdOf(value)) ?? { last_four: "" }) : null
      }
      value={isReference || typeof value !== "string" ? "" : value}
      onInput={(typed) => onChange(typed === "" ? undefined : typed)}
    />
  );
}

/** A list of texts: names with suggestions, or any texts with one on each line. */
function TextsField(props: SchemaFieldProps) {
  const { value, onChange } = props;
  const texts = Array.isArray(value) ? value.map(String) : [];
  const suggestions = suggestFor(nameOf(props));
  const change = (list: readonly string[]) =>
    onChange(list.length === 0 && props.schema.default === undefined ? undefined : list);
  const { form, path } = props;
  const ofItem = texts.map((_, i) => form.errorOf([...path, String(i)])).find((error) => error !== null);
  const error = form.errorOf(path) ?? ofItem ?? null;
  if (suggestions === null)
    return <LinesField {...toCommon(props)} error={error} value={texts} onChange={change} />;
  return (
    <ListInput
      {...toCommon(props)}
      error={error}
      value={texts.join("\n")}
      onInput={(typed) => change(typed.split("\n").filter(Boolean))}
      {...suggestions}
    />
  );
}

function ChoicesField(props: SchemaFieldProps) {
  const { schema, value, onChange, label } = props;
  const all = (typeof schema.items === "object" ? (schema.items.enum ?? []) : []).map(String);
  const chosen = ((value ?? schema.default ?? []) as readonly unknown[]).map(String);
  const error = props.form.errorOf(props.path);
  return (
    <fieldset class="field choices">
      <legend class={props.hidesLabel ? "visually-hidden" : "field-label"}>{label}</legend>
      <div class="row wrap">
        {all.map((one) => (
          <Check
            key={one}
            label={one}
            isChecked={chosen.includes(one)}
            onChange={(isChecked) =>
              onChange(all.filter((other) => (other === one ? isChecked : chosen.includes(other))))
            }
          />
        ))}
      </div>
      {props.hidesLabel ? null : (
        <div class="field-hint">
          <Prose>{schema.description ?? ""}</Prose>
        </div>
      )}
      <FieldError error={error} />
    </fieldset>
  );
}
