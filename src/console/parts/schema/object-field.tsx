import { useState } from "preact/hooks";
import { FieldError } from "../controls/field-error.tsx";
import type { SchemaFieldProps } from "./field-props.ts";
import { isShort, nameField, type Schema, withMember } from "./schema.ts";

/** The fields of an object, and those of objects in it, which are folded while they are not set. `last` names long fields that come last. */
export function ObjectField(props: SchemaFieldProps & { readonly last?: readonly string[] }) {
  const { schema, label, hidesLabel, form, path } = props;
  const error = form.errorOf(path);
  const shown = Object.entries(schema.properties ?? {}).filter(
    ([, one]) => one.const === undefined && !one.fileOnly,
  );
  const short = shown.filter(([, one]) => isShort(one));
  const isLast = ([name]: readonly [string, Schema]) => Number(props.last?.includes(name) === true);
  const long = shown.filter(([, one]) => !isShort(one)).sort((a, b) => isLast(a) - isLast(b));
  return (
    <fieldset class="field schema-object">
      <legend class={hidesLabel ? "visually-hidden" : "field-label"}>{label}</legend>
      <FieldError error={error} />
      <div class="fields">
        {short.map(([name, one]) => (
          <Member key={name} name={name} of={props} schema={one} />
        ))}
      </div>
      {long.map(([name, one]) => (
        <Member key={name} name={name} of={props} schema={one} />
      ))}
    </fieldset>
  );
}

function Member({ name, of, schema }: { name: string; of: SchemaFieldProps; schema: Schema }) {
  const { value, onChange, path } = of;
  const member = (value as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  const { Field } = of.form;
  const isRequired = of.schema.required?.includes(name) === true;
  const label = isRequired ? `${nameField(name)} *` : nameField(name);
  const field = (
    <Field
      schema={schema}
      path={[...path, name]}
      label={label}
      value={member}
      form={of.form}
      onChange={(next) => onChange(withMember(value, name, next))}
    />
  );
  const isNested = !isShort(schema) && schema.type === "object";
  return isNested ? (
    <Folded label={label} isOpen={member !== undefined}>
      {field}
    </Folded>
  ) : (
    field
  );
}

function Folded({
  label,
  isOpen,
  children,
}: {
  label: string;
  isOpen: boolean;
  children: preact.ComponentChildren;
}) {
  const [wasOpen] = useState(isOpen);
  return (
    <details class="schema-folded" open={wasOpen}>
      <summary>{label}</summary>
      {children}
    </details>
  );
}
