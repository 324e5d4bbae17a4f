import { DurationField } from "../../parts/controls/duration-field.tsx";
import { ListInput } from "../../parts/controls/list-input.tsx";
import type { DefaultsInput } from "../../state/accounts/key-defaults.ts";
import { text } from "../../text/text.ts";

/** The hints of the fields, which depend on whose defaults they are. */
type DefaultsHints = Readonly<Record<keyof DefaultsInput, string>>;

/** The fields for what keys of an account or a team have by default. */
export function DefaultFields(props: {
  values: DefaultsInput;
  hints: DefaultsHints;
  /** What an empty duration stands for. */
  empty: string;
  set: (change: Partial<DefaultsInput>) => void;
  errorOf: (field: keyof DefaultsInput) => string | null;
  isDisabled: boolean;
}) {
  const { values, hints, empty, set, errorOf, isDisabled } = props;
  return (
    <div class="fields">
      <DurationField
        label={text.people.promptLog}
        hint={hints.promptLog}
        placeholder={empty}
        error={errorOf("promptLog")}
        value={values.promptLog}
        onInput={(promptLog) => set({ promptLog })}
        isDisabled={isDisabled}
      />
      <DurationField
        label={text.people.cache}
        hint={hints.cache}
        placeholder={empty}
        error={errorOf("cache")}
        value={values.cache}
        onInput={(cache) => set({ cache })}
        isDisabled={isDisabled}
      />
      <ListInput
        label={text.people.tags}
        hint={hints.tags}
        placeholder={text.people.noTags}
        error={errorOf("tags")}
        value={values.tags}
        onInput={(tags) => set({ tags })}
        haveBlanks
        options={[]}
        isDisabled={isDisabled}
      />
    </div>
  );
}
