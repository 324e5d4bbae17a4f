import { useState } from "preact/hooks";
import { Button } from "../../parts/controls/button.tsx";
import { Combobox } from "../../parts/controls/combobox.tsx";
import { Select } from "../../parts/controls/field.tsx";
import { SearchInput } from "../../parts/controls/search-input.tsx";
import { formatShortCount } from "../../parts/values/format.ts";
import type { CatalogList } from "../../state/catalog/model-types.ts";
import { text } from "../../text/text.ts";
import { countFilters, type ModelFilters } from "./model-filters.ts";

const words = text.models;
const INPUTS = ["text", "image", "file", "audio", "video"];
const OUTPUTS = ["text", "image", "audio", "embedding", "moderation", "rerank", "speech", "transcription"];
const PRICES = [0, 0.1, 0.5, 1, 3, 10];
const CONTEXTS = [32_000, 128_000, 200_000, 400_000, 1_000_000];

const choicesOf = (any: string, values: readonly string[]) => [
  { value: "", label: any },
  ...values.map((value) => ({ value, label: words.modalities[value] ?? value })),
];
const PRICE_CHOICES = [
  { value: "", label: words.anyPrice },
  ...PRICES.map((price) => ({ value: String(price), label: price === 0 ? words.free : words.upTo(price) })),
];
const CONTEXT_CHOICES = [
  { value: "", label: words.anyContext },
  ...CONTEXTS.map((tokens) => ({ value: String(tokens), label: words.atLeast(formatShortCount(tokens)) })),
];
const SERVED_CHOICES = [
  { value: "all", label: words.servedAll },
  { value: "yes", label: words.servedYes },
  { value: "no", label: words.servedNo },
];

/** The filters above the list of models. On narrow screens they are behind a button. */
export function ModelFilterBar(props: {
  filters: ModelFilters;
  providers: CatalogList["providers"];
  onChange: (changes: Partial<ModelFilters>) => void;
  onClear: () => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const { filters, onChange } = props;
  const set = countFilters(filters);
  return (
    <search class={isOpen ? "model-filters open" : "model-filters"}>
      <SearchInput
        class="filter-search"
        label={words.search}
        placeholder={words.searchHint}
        value={filters.text}
        onInput={(text) => onChange({ text })}
      />
      <span class="filter-toggle">
        <Button isPressed={isOpen} onClick={() => setOpen(!isOpen)}>
          {set === 0 ? words.filters : `${words.filters} (${set})`}
        </Button>
      </span>
      <div class="filter-fields">
        <FilterFields {...props} />
        {set === 0 ? null : (
          <Button kind="bare" onClick={props.onClear}>
            {words.clearFilters}
          </Button>
        )}
      </div>
    </search>
  );
}

type FieldsProps = Parameters<typeof ModelFilterBar>[0];

function FilterFields({ filters, providers, onChange }: FieldsProps) {
  return (
    <>
      <Select
        hidesLabel
        label={words.served}
        value={filters.served}
        choices={SERVED_CHOICES}
        onChange={(served) => onChange({ served: served as ModelFilters["served"] })}
      />
      <Select
        hidesLabel
        label={words.input}
        value={filters.input}
        choices={choicesOf(words.anyInput, INPUTS)}
        onChange={(input) => onChange({ input })}
      />
      <Select
        hidesLabel
        label={words.output}
        value={filters.output}
        choices={choicesOf(words.anyOutput, OUTPUTS)}
        onChange={(output) => onChange({ output })}
      />
      <BoundFields filters={filters} onChange={onChange} />
      <Combobox
        hidesLabel
        label={words.provider}
        value={filters.provider || null}
        options={providers.map(({ slug, name }) => ({ value: slug, label: name, detail: slug }))}
        onChange={(provider) => onChange({ provider: provider ?? "" })}
      />
      <Toggle name="needsTools" label={words.tools} filters={filters} onChange={onChange} />
      <Toggle name="needsReasoning" label={words.reasoning} filters={filters} onChange={onChange} />
    </>
  );
}

function BoundFields({ filters, onChange }: Pick<FieldsProps, "filters" | "onChange">) {
  const textOf = (value: number | null) => (value === null ? "" : String(value));
  const numberOf = (value: string) => (value === "" ? null : Number(value));
  return (
    <>
      <Select
        hidesLabel
        label={words.price}
        value={textOf(filters.maxPrice)}
        choices={PRICE_CHOICES}
        onChange={(value) => onChange({ maxPrice: numberOf(value) })}
      />
      <Select
        hidesLabel
        label={words.context}
        value={textOf(filters.minContext)}
        choices={CONTEXT_CHOICES}
        onChange={(value) => onChange({ minContext: numberOf(value) })}
      />
    </>
  );
}

function Toggle(
  props: Pick<FieldsProps, "filters" | "onChange"> & {
    name: "needsTools" | "needsReasoning";
    label: string;
  },
) {
  const isPressed = props.filters[props.name];
  return (
    <Button isPressed={isPressed} onClick={() => props.onChange({ [props.name]: !isPressed })}>
      {props.label}
    </Button>
  );
}
