import { useState } from "preact/hooks";
import { SecretField } from "../../parts/config/secret-field.tsx";
import type { Config } from "../../parts/config/use-config.ts";
import { Field, Select } from "../../parts/controls/field.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { Dialog } from "../../parts/layout/dialog.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { text } from "../../text/text.ts";
import { ConnectFoot } from "./connect-foot.tsx";
import { FIRST_KEY } from "./connect-provider.tsx";
import { type Choice, HostModels } from "./host-models.tsx";
import { isSound, toModel } from "./model-draft.ts";
import { pathOf, toSlug } from "./provider-rows.ts";
import { hasFailed, modelOf, TrialLines, testBeforeSaving, useTrial } from "./trials.tsx";

const words = text.providers;

/** A kind of server, which gives a form its first values. */
export type HostKind = keyof typeof words.choose.hosts;

interface Values {
  readonly name: string;
  readonly slug: string;
  readonly baseUrl: string;
  /** Empty: the default. */
  readonly format: string;
  readonly key: string;
  readonly choices: readonly Choice[];
}

/** The step in which one's own host is added: its address, and the models to serve. */
export function ConnectHost(props: {
  host: HostKind;
  config: Config;
  /** The slugs that exist. */
  taken: readonly string[];
  /** The API formats, the default first. */
  formats: readonly string[];
  onBack: () => void;
  onDone: (slug: string, name: string, model: string | null) => void;
  onClose: () => void;
}) {
  const [values, setValues] = useState<Values>(() => firstValues(props.host, props.taken));
  const [showsProblems, setShowsProblems] = useState(false);
  const trials = useTrial();
  const saving = useAction();
  const problems = findProblems(values, props.taken);
  const chosen = values.choices.filter(({ isChosen }) => isChosen).map(({ draft }) => draft);
  const isComplete = Object.values(problems).every((problem) => problem === null);
  const check = () => {
    setShowsProblems(true);
    return isComplete && chosen.length > 0 && chosen.every(isSound);
  };
  const settings = toSettings(values, chosen.map(toModel));
  const save = () =>
    saving.run(async () => {
      const trial = await testBeforeSaving(trials, values.slug, settings);
      if (trial === null) return;
      await props.config.save([{ path: pathOf(values.slug), value: settings }]);
      showToast(words.connect.saved(values.name));
      props.onDone(values.slug, values.name, modelOf(trial));
    });
  return (
    <Dialog
      title={words.host.title}
      isWide
      onClose={props.onClose}
      onSubmit={() => (check() ? void save() : undefined)}
      foot={
        <ConnectFoot
          trial={trials.trial}
          isSaving={saving.isBusy}
          onBack={props.onBack}
          onTest={() => (check() ? void trials.run(values.slug, settings) : undefined)}
        />
      }
    >
      <FormError error={saving.error} />
      <HostFields
        formats={props.formats}
        values={values}
        problems={showsProblems ? problems : { ...problems, name: null, baseUrl: null }}
        onChange={(changes) => {
          setValues({ ...values, ...changes });
          trials.forget();
        }}
      />
      <HostModels
        slug={values.slug}
        settings={isComplete ? toSettings(values, [PLACEHOLDER]) : null}
        choices={values.choices}
        showsProblems={showsProblems}
        onChange={(choices) => {
          setValues({ ...values, choices });
          trials.forget();
        }}
      />
      <TrialLines trial={trials.trial} />
      {hasFailed(trials.trial) ? <p class="note">{words.connect.warning}</p> : null}
    </Dialog>
  );
}

/** A host without models is not called, not even for the list of its models. */
const PLACEHOLDER = { id: "any/model", name: "model" };

function HostFields(props: {
  formats: readonly string[];
  values: Values;
  problems: Problems;
  onChange: (changes: Partial<Values>) => void;
}) {
  const { values, problems, onChange } = props;
  return (
    <>
      <div class="two-fields">
        <Field
          label={words.host.name}
          value={values.name}
          error={problems.name}
          onInput={(name) => {
            const follows = values.slug === toSlug(values.name);
            onChange(follows ? { name, slug: toSlug(name) } : { name });
          }}
        />
        <Field
          label={words.host.slug}
          hint={words.host.slugHint}
          value={values.slug}
          error={values.name === "" ? null : problems.slug}
          onInput={(slug) => onChange({ slug })}
        />
      </div>
      <div class="two-fields">
        <Field
          label={words.host.baseUrl}
          hint={words.host.baseUrlHint}
          value={values.baseUrl}
          error={problems.baseUrl}
          onInput={(baseUrl) => onChange({ baseUrl })}
        />
        <Select
          label={words.host.format}
          value={values.format}
          choices={props.formats.map((label, at) => ({ value: at === 0 ? "" : label, label }))}
          onChange={(format) => onChange({ format })}
        />
      </div>
      <SecretField
        label={words.connect.optionalKey}
        stored={null}
        value={values.key}
        onInput={(key) => onChange({ key })}
      />
    </>
  );
}

function firstValues(host: HostKind, taken: readonly string[]): Values {
  const { name, baseUrl } = words.choose.hosts[host];
  const named = host === "other" ? "" : freeName(name, taken);
  return { name: named, slug: toSlug(named), baseUrl, format: "", key: "", choices: [] };
}

/** Returns a name whose slug is free: `vLLM`, then `vLLM 2`. */
function freeName(name: string, taken: readonly string[]): string {
  const isTaken = (one: string) => taken.includes(toSlug(one));
  if (!isTaken(name)) return name;
  const numbers = Array.from({ length: taken.length + 1 }, (_, i) => `${name} ${i + 2}`);
  return numbers.find((one) => !isTaken(one)) ?? name;
}

type Problems = Readonly<Record<"name" | "slug" | "baseUrl", string | null>>;

function findProblems({ name, slug, baseUrl }: Values, taken: readonly string[]): Problems {
  const isSlug = /^[a-z0-9][a-z0-9-]*$/.test(slug);
  return {
    name: name.trim() === "" ? words.connect.missing : null,
    slug: !isSlug ? words.host.badSlug : taken.includes(slug) ? words.host.usedSlug : null,
    baseUrl: baseUrl.trim() === "" ? words.connect.missing : null,
  };
}

function toSettings({ name, baseUrl, format, key }: Values, models: readonly object[]): object {
  return {
    name: name.trim(),
    base_url: baseUrl.trim(),
    ...(format === "" ? {} : { format }),
    ...(key.trim() === ""
      ? {}
      : { api_keys: [{ id: FIRST_KEY, key: key.trim(), weight: 1, enabled: true }] }),
    models,
  };
}
