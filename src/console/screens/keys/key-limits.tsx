import { DurationField } from "../../parts/controls/duration-field.tsx";
import { Field, Select } from "../../parts/controls/field.tsx";
import { ListInput } from "../../parts/controls/list-input.tsx";
import { formatMoney } from "../../parts/values/format.ts";
import type { KeyInput } from "../../state/accounts/key-input.ts";
import { loadModelPatterns, modelPatterns } from "../../state/options/model-patterns.ts";
import { text } from "../../text/text.ts";
import type { Bounds } from "./key-bounds.ts";

const words = text.keys;
const NANODOLLARS = 1e9;

/** The fields with whole numbers, and the meaning of an empty one. */
const COUNTS = ["requestsPerMinute", "tokensPerMinute", "concurrent"] as const;

/** The periods that a bound on spending allows. */
const BOUNDED_PERIODS: readonly string[] = ["month", "total"];

interface LimitsProps {
  readonly input: KeyInput;
  readonly set: (name: keyof KeyInput) => (value: string) => void;
  readonly errorOf: (field: keyof KeyInput) => string | null;
  /** The bounds of a key that a member makes; null without bounds. */
  readonly bounds: Bounds | null;
  /** Which fields the person may set: all, those of a key of their own, or only a lower limit. */
  readonly extent: "all" | "own" | "tighter";
}

/** What an inference key may do, and what is kept of its requests. Fields that the person may not set are absent. */
export function KeyLimits(props: LimitsProps) {
  const { input, set, errorOf, extent } = props;
  if (extent === "tighter") return <SpendLimit {...props} />;
  return (
    <>
      <ListInput
        label={words.models}
        hint={words.modelsHint}
        placeholder={words.allModels}
        value={input.models}
        onInput={set("models")}
        error={errorOf("models")}
        options={modelPatterns()}
        onOpen={loadModelPatterns}
      />
      <SpendLimit {...props} />
      <div class="two-fields">
        {COUNTS.map((name) => (
          <Field
            key={name}
            label={words[name]}
            inputMode="numeric"
            placeholder={words.noLimit}
            value={input[name]}
            onInput={set(name)}
            error={errorOf(name)}
          />
        ))}
      </div>
      {extent === "all" ? <Duration {...props} name="promptLog" hint={words.promptLogHint} /> : null}
      <Duration {...props} name="cache" hint={words.cacheHint} />
      <ListInput
        label={words.tags}
        hint={words.tagsHint}
        placeholder={words.noTags}
        value={input.tags}
        onInput={set("tags")}
        error={errorOf("tags")}
        haveBlanks
        options={[]}
      />
    </>
  );
}

function SpendLimit({ input, set, errorOf, bounds, extent }: LimitsProps) {
  const most = bounds?.spend_limit ?? null;
  const periods = Object.entries(words.spendLimitPeriods).filter(
    ([value]) => most === null || BOUNDED_PERIODS.includes(value),
  );
  const field = (
    <Field
      label={words.spendLimit}
      inputMode="decimal"
      placeholder={most === null ? words.noLimit : words.atMost(formatMoney(most * NANODOLLARS))}
      value={input.spendLimit}
      onInput={set("spendLimit")}
      error={errorOf("spendLimit")}
    />
  );
  if (extent === "tighter") return field;
  return (
    <div class="two-fields">
      {field}
      <Select
        label={words.spendLimitPeriod}
        value={input.spendLimitPeriod}
        choices={periods.map(([value, label]) => ({ value, label }))}
        onChange={set("spendLimitPeriod")}
      />
    </div>
  );
}

function Duration(props: LimitsProps & { name: "promptLog" | "cache"; hint: string }) {
  const { name, hint, input, set, errorOf } = props;
  return (
    <DurationField
      label={words[name]}
      hint={hint}
      placeholder={words.byDefault}
      value={input[name]}
      onInput={set(name)}
      error={errorOf(name)}
    />
  );
}
