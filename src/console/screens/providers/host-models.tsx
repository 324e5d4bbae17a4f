import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { AddName } from "../../parts/controls/add-name.tsx";
import { Button } from "../../parts/controls/button.tsx";
import { Check } from "../../parts/controls/field.tsx";
import { FieldError } from "../../parts/controls/field-error.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { text } from "../../text/text.ts";
import { draftOf, type HostModel, type ModelDraft } from "./model-draft.ts";
import { ModelFields } from "./model-fields.tsx";

const words = text.providers.host;

/** A model that a host has, and whether it is served. */
export interface Choice {
  readonly draft: ModelDraft;
  readonly isChosen: boolean;
}

/** The models of a host: read from it or typed, each with its id, context window and prices. */
export function HostModels(props: {
  slug: string;
  /** The settings with which the host is asked. Null: they are not complete, or not valid. */
  settings: object | null;
  choices: readonly Choice[];
  onChange: (choices: readonly Choice[]) => void;
  showsProblems: boolean;
}) {
  const { slug, settings, choices, onChange } = props;
  const reading = useAction();
  const [isEmpty, setEmpty] = useState(false);
  const read = () =>
    reading.run(async () => {
      const { data } = await call("POST /api/admin/config/providers/{provider}/models", {
        params: { provider: slug },
        body: { settings: settings ?? undefined },
      });
      setEmpty(data.length === 0);
      onChange(mergeModels(choices, data, slug));
    });
  const chosen = choices.filter(({ isChosen }) => isChosen).length;
  return (
    <section class="column">
      <div class="row wrap">
        <h3 class="grow">{words.models}</h3>
        {choices.length === 0 ? null : <span class="faint">{words.chosen(chosen, choices.length)}</span>}
        <Button
          size="small"
          isBusy={reading.isBusy}
          isDisabled={settings === null}
          onClick={() => void read()}
        >
          {choices.length === 0 ? words.readModels : words.readAgain}
        </Button>
      </div>
      <p class="quiet">{choices.length === 0 ? words.readAbout : words.modelsAbout}</p>
      <FormError error={reading.error} />
      {isEmpty ? <p class="warn">{words.noModels}</p> : null}
      {choices.length > 1 ? (
        <Check
          label={words.chooseAll}
          isChecked={chosen === choices.length}
          onChange={(isChosen) => onChange(choices.map((choice) => ({ ...choice, isChosen })))}
        />
      ) : null}
      <ChoiceList {...props} />
      <AddName
        class="add-by-name"
        label={words.addModel}
        placeholder={words.addModel}
        onAdd={(name) => onChange(mergeModels(choices, [{ id: name, context_length: null }], slug, true))}
      />
      <FieldError error={props.showsProblems && chosen === 0 ? words.noneChosen : null} />
    </section>
  );
}

/** Adds models that are not in the list. What was typed stays. */
function mergeModels(
  choices: readonly Choice[],
  models: readonly HostModel[],
  slug: string,
  isTyped = false,
): readonly Choice[] {
  const known = new Set(choices.map(({ draft }) => draft.name));
  const added = models.filter(({ id }) => !known.has(id));
  const isOnly = added.length === 1 && choices.length === 0;
  return [
    ...choices,
    ...added.map((model) => ({ draft: draftOf(model, slug), isChosen: isTyped || isOnly })),
  ];
}

function ChoiceList(props: {
  choices: readonly Choice[];
  onChange: (choices: readonly Choice[]) => void;
  showsProblems: boolean;
}) {
  const { choices, onChange } = props;
  if (choices.length === 0) return null;
  const replace = (at: number, choice: Choice) =>
    onChange(choices.map((one, index) => (index === at ? choice : one)));
  return (
    <ul class="model-choices">
      {choices.map((choice, at) => (
        <li key={choice.draft.name}>
          <Check
            label={<span class="mono breaks">{choice.draft.name}</span>}
            isChecked={choice.isChosen}
            onChange={(isChosen) => replace(at, { ...choice, isChosen })}
          />
          {choice.isChosen ? (
            <ModelFields
              draft={choice.draft}
              showsProblems={props.showsProblems}
              onChange={(draft) => replace(at, { ...choice, draft })}
            />
          ) : null}
        </li>
      ))}
    </ul>
  );
}
