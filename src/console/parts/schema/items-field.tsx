import { text } from "../../text/text.ts";
import { Button } from "../controls/button.tsx";
import { FieldError } from "../controls/field-error.tsx";
import { Prose } from "../values/prose.tsx";
import type { SchemaFieldProps } from "./field-props.ts";
import { type Schema, startValue } from "./schema.ts";

/** The items of a list, each with its own fields. Their order can be changed. */
export function ItemsField(props: SchemaFieldProps) {
  const { schema, label, hidesLabel, value, onChange, path, form } = props;
  const items = Array.isArray(value) ? (value as readonly unknown[]) : [];
  const item = schema.items as Schema;
  const change = (next: readonly unknown[]) =>
    onChange(next.length === 0 && schema.default === undefined ? undefined : next);
  const error = form.errorOf(path);
  const { Field } = form;
  return (
    <fieldset class="field schema-items">
      <legend class={hidesLabel ? "visually-hidden" : "field-label"}>{label}</legend>
      {hidesLabel ? null : (
        <div class="field-hint">
          <Prose>{schema.description ?? ""}</Prose>
        </div>
      )}
      {items.map((one, i) => {
        const name = text.schema.item(label.replace(/s$/, ""), i + 1);
        return (
          <div key={`${i} of ${items.length}`} class="schema-item">
            <div class="row">
              <span class="strong-name grow">{name}</span>
              <Button
                kind="bare"
                size="small"
                icon="up"
                label={text.schema.moveUp(name)}
                isDisabled={i === 0}
                onClick={() => change(swap(items, i))}
              />
              <Button
                kind="bare"
                size="small"
                icon="trash"
                label={text.schema.removeLabel(name)}
                onClick={() => change(items.filter((_, at) => at !== i))}
              />
            </div>
            <Field
              schema={item}
              path={[...path, String(i)]}
              label={name}
              value={one}
              form={form}
              onChange={(next) => change(items.map((other, at) => (at === i ? next : other)))}
              hidesLabel
            />
          </div>
        );
      })}
      <div>
        <Button icon="plus" onClick={() => change([...items, startValue(item)])}>
          {text.schema.add}
        </Button>
      </div>
      <FieldError error={error} />
    </fieldset>
  );
}

/** Returns a list in which an item has changed places with the one before it. */
function swap(items: readonly unknown[], index: number): readonly unknown[] {
  return items.map((one, i) => items[i === index ? i - 1 : i === index - 1 ? i + 1 : i] ?? one);
}
