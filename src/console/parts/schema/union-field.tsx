import { text } from "../../text/text.ts";
import { Select } from "../controls/field.tsx";
import type { SchemaFieldProps } from "./field-props.ts";
import { findVariant, nameVariant, type Schema, startValue, variantsOf } from "./schema.ts";

/** A value with alternatives: a choice of the alternative, and its fields. Fields of the same names keep their values. */
export function UnionField(props: SchemaFieldProps) {
  const { schema, label, value, onChange } = props;
  const variants = variantsOf(schema) ?? [];
  const at = findVariant(variants, value ?? schema.default);
  const variant = variants[at] as Schema;
  const choose = (index: number) => {
    const chosen = variants[index] as Schema;
    const start = startValue(chosen);
    onChange(chosen.type === "object" ? { ...keep(value, chosen), ...(start as object) } : start);
  };
  const { Field } = props.form;
  const hasField = variant.type !== "null" && variant.const === undefined;
  return (
    <div class="schema-union">
      <Select
        label={text.schema.kindOf(label)}
        hidesLabel={props.hidesLabel}
        value={String(at)}
        choices={variants.map((one, i) => ({
          value: String(i),
          label: one.type === "null" ? text.schema.noLimit : nameVariant(one, variants),
        }))}
        onChange={(index) => choose(Number(index))}
      />
      {hasField ? (
        <Field {...props} schema={{ ...variant, default: variant.default ?? schema.default }} hidesLabel />
      ) : null}
    </div>
  );
}

/** Returns the members of a value that another alternative has, too. */
function keep(value: unknown, { properties = {} }: Schema): object {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([name]) => name in properties));
}
