import { useState } from "preact/hooks";
import type { ConfigProvider } from "../../api/schema.ts";
import { SecretField } from "../../parts/config/secret-field.tsx";
import type { Config } from "../../parts/config/use-config.ts";
import { Field } from "../../parts/controls/field.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { Dialog } from "../../parts/layout/dialog.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { text } from "../../text/text.ts";
import { ConnectFoot } from "./connect-foot.tsx";
import { isPartNeeded, pathOf } from "./provider-rows.ts";
import { hasFailed, modelOf, TrialLines, testBeforeSaving, useTrial } from "./trials.tsx";

const words = text.providers;

/** The name of the first key of a provider. */
export const FIRST_KEY = "main";

interface Values {
  readonly key: string;
  readonly parts: Readonly<Record<string, string>>;
  readonly baseUrl: string;
}

/** The step in which a provider of the catalog gets its key. The key is tested before it is saved. */
export function ConnectProvider(props: {
  setup: ConfigProvider;
  config: Config;
  onBack: () => void;
  onDone: (slug: string, name: string, model: string | null) => void;
  onClose: () => void;
}) {
  const { setup, config, onClose } = props;
  const [values, setValues] = useState<Values>({ key: "", parts: {}, baseUrl: "" });
  const [showsMissing, setShowsMissing] = useState(false);
  const trials = useTrial();
  const saving = useAction();
  const isComplete = findMissing(setup, values).length === 0;
  const change = (changes: Partial<Values>) => {
    setValues({ ...values, ...changes });
    trials.forget();
  };
  const check = () => {
    setShowsMissing(!isComplete);
    return isComplete;
  };
  const test = () => trials.run(setup.slug, toSettings(values));
  const save = () =>
    saving.run(async () => {
      const trial = await testBeforeSaving(trials, setup.slug, toSettings(values));
      if (trial === null) return;
      await config.save([{ path: pathOf(setup.slug), value: toSettings(values) }]);
      showToast(words.connect.saved(setup.name));
      props.onDone(setup.slug, setup.name, modelOf(trial));
    });
  return (
    <Dialog
      title={words.connect.title(setup.name)}
      isWide
      onClose={onClose}
      onSubmit={() => (check() ? void save() : undefined)}
      foot={
        <ConnectFoot
          trial={trials.trial}
          isSaving={saving.isBusy}
          onBack={props.onBack}
          onTest={() => (check() ? void test() : undefined)}
        />
      }
    >
      <FormError error={saving.error} />
      <Fields setup={setup} values={values} showsMissing={showsMissing} onChange={change} />
      <TrialLines trial={trials.trial} />
      {hasFailed(trials.trial) ? <p class="note">{words.connect.warning}</p> : null}
    </Dialog>
  );
}

function Fields(props: {
  setup: ConfigProvider;
  values: Values;
  showsMissing: boolean;
  onChange: (changes: Partial<Values>) => void;
}) {
  const { setup, values, onChange } = props;
  const missing = props.showsMissing ? findMissing(setup, values) : [];
  return (
    <>
      {setup.parts.map((part) => (
        <Field
          key={part.name}
          label={words.connect.parts[part.name] ?? part.name}
          hint={
            part.default === null
              ? words.connect.partHints[part.name]
              : words.connect.partDefault(part.default)
          }
          error={missing.includes(part.name) ? words.connect.missing : null}
          value={values.parts[part.name] ?? ""}
          onInput={(value) => onChange({ parts: { ...values.parts, [part.name]: value } })}
        />
      ))}
      <SecretField
        label={words.connect.key}
        stored={null}
        value={values.key}
        hint={words.connect.keyHints[setup.key_kind]}
        error={missing.includes("key") ? words.connect.missing : null}
        hasFocus={setup.parts.length === 0}
        onInput={(key) => onChange({ key })}
      />
      {setup.keys_url === null ? null : (
        <a href={setup.keys_url} target="_blank" rel="noreferrer">
          {words.connect.getKey(new URL(setup.keys_url).hostname)}
        </a>
      )}
      <details class="advanced">
        <summary>{words.connect.advanced}</summary>
        <Field
          label={words.connect.baseUrl}
          hint={words.connect.baseUrlHint(setup.base_url ?? "")}
          value={values.baseUrl}
          onInput={(baseUrl) => onChange({ baseUrl })}
        />
      </details>
    </>
  );
}

/** Returns the names of the fields that are empty and needed. A base URL of one's own needs no parts. */
function findMissing(setup: ConfigProvider, { key, parts, baseUrl }: Values): readonly string[] {
  const needed = baseUrl.trim() === "" ? setup.parts.filter((part) => isPartNeeded(setup, part)) : [];
  const missing = needed.map(({ name }) => name).filter((name) => !parts[name]?.trim());
  return key.trim() === "" ? [...missing, "key"] : missing;
}

/** Returns the settings of the provider. Empty fields are left out. */
function toSettings({ key, parts, baseUrl }: Values): object {
  const filled = Object.entries(parts)
    .map(([name, value]) => [name, value.trim()] as const)
    .filter(([, value]) => value !== "");
  return {
    api_keys: [{ id: FIRST_KEY, key: key.trim(), weight: 1, enabled: true }],
    ...(filled.length === 0 ? {} : { parts: Object.fromEntries(filled) }),
    ...(baseUrl.trim() === "" ? {} : { base_url: baseUrl.trim() }),
  };
}
