import { useState } from "preact/hooks";
import type { LoadedConfig } from "../../parts/config/config-types.ts";
import { PinnedNote } from "../../parts/config/pinned-note.tsx";
import { findPinned, storedAt } from "../../parts/config/read-config.ts";
import type { Config } from "../../parts/config/use-config.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Field } from "../../parts/controls/field.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { showToast } from "../../parts/layout/toast.tsx";
import { text } from "../../text/text.ts";

const words = text.models.operator;

const NAMES = ["requests_per_minute", "tokens_per_minute", "concurrent"] as const;
type Limits = Readonly<Record<(typeof NAMES)[number], string>>;

/** The rate limits of a model, for all callers together. */
export function ModelLimits(props: {
  id: string;
  config: Config;
  loaded: LoadedConfig;
  onChanged: () => void;
}) {
  const { id, config, loaded } = props;
  const path = limitsPath(id);
  const pinned = findPinned(loaded, path);
  // Only what was typed: the rest follows the configuration, which others may change in the meantime.
  const [changes, setChanges] = useState<Partial<Limits>>({});
  const before = typeLimits(storedAt(loaded, path));
  const typed = { ...before, ...changes };
  const saving = useAction();
  const problem = NAMES.find((name) => !/^(?:[1-9]\d{0,11})?$/.test(typed[name].trim())) ?? null;
  const isChanged = NAMES.some((name) => typed[name] !== before[name]);
  const save = () =>
    saving.run(async () => {
      const value = readLimits(typed);
      await config.save([value === null ? { path, remove: true } : { path, value }]);
      setChanges({});
      showToast(words.limitsSaved);
      props.onChanged();
    });
  return (
    <div class="card">
      <div class="card-head">
        <h3>{words.limits}</h3>
        {pinned === null ? null : <PinnedNote pinned={pinned} />}
      </div>
      {pinned === null ? (
        <form
          class="stack card-body"
          onSubmit={(event) => {
            event.preventDefault();
            if (problem === null) void save();
          }}
        >
          <FormError error={saving.error} />
          <div class="fields">
            {NAMES.map((name) => (
              <Field
                key={name}
                label={words.limitNames[name]}
                placeholder={words.noLimit}
                inputMode="numeric"
                value={typed[name]}
                error={problem === name ? words.badLimit : null}
                onInput={(value) => setChanges({ ...changes, [name]: value })}
              />
            ))}
          </div>
          <p class="field-hint">{words.limitsAbout}</p>
          <div class="row">
            <Button
              kind="primary"
              isSubmit
              isBusy={saving.isBusy}
              isDisabled={!isChanged || problem !== null}
            >
              {text.lists.save}
            </Button>
          </div>
        </form>
      ) : null}
    </div>
  );
}

/** Returns the path of a model's limits. */
export function limitsPath(id: string): readonly string[] {
  return ["limits", "models", id];
}

function typeLimits(stored: unknown): Limits {
  const limits = (stored ?? {}) as Readonly<Record<string, number | undefined>>;
  return Object.fromEntries(NAMES.map((name) => [name, limits[name]?.toString() ?? ""])) as Limits;
}

/** Returns the limits that are typed; null if there are none. */
function readLimits(typed: Limits): object | null {
  const set = NAMES.filter((name) => typed[name].trim() !== "").map((name) => [name, Number(typed[name])]);
  return set.length === 0 ? null : Object.fromEntries(set);
}
