import { text } from "../../text/text.ts";
import { Field } from "../controls/field.tsx";
import { toPerToken } from "./shift-decimal.ts";
import { PRICE_FIELDS, type TypedPrices } from "./typed-prices.ts";

/** The fields for prices per million tokens. */
export function PriceFields(props: {
  values: TypedPrices;
  onChange: (values: TypedPrices) => void;
  /** What applies while a field is empty. */
  placeholders?: TypedPrices;
}) {
  const { values, onChange, placeholders } = props;
  return (
    <fieldset class="price-fields">
      <legend class="field-label">{text.config.prices.title}</legend>
      {PRICE_FIELDS.map((name) => (
        <Field
          key={name}
          label={text.config.prices[name]}
          inputMode="decimal"
          placeholder={placeholders?.[name] ?? ""}
          value={values[name]}
          error={values[name] !== "" && toPerToken(values[name]) === null ? text.config.badPrice : null}
          onInput={(typed) => onChange({ ...values, [name]: typed })}
        />
      ))}
    </fieldset>
  );
}
