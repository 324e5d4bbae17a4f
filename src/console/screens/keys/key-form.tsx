import { useState } from "preact/hooks";
import { type ApiError, call } from "../../api/client.ts";
import type { Key } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Combobox } from "../../parts/controls/combobox.tsx";
import { DurationField } from "../../parts/controls/duration-field.tsx";
import { Field, Select } from "../../parts/controls/field.tsx";
import { ListInput } from "../../parts/controls/list-input.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Dialog } from "../../parts/layout/dialog.tsx";
import { Snippets } from "../../parts/layout/snippets.tsx";
import { Code } from "../../parts/values/values.tsx";
import { findProblem, type KeyInput, NEW_KEY, readKey, toSettings } from "../../state/key-input.ts";
import { toApiError } from "../../state/load.ts";
import { loadOptions, optionsOf } from "../../state/names.ts";
import { loadModelPatterns, modelPatterns } from "../../state/options/model-patterns.ts";
import { isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";

const words = text.keys;
/** A model that every gateway with a provider has: the tier that chooses one. */
const EXAMPLE_MODEL = "gateway-auto/balanced";

/** The names of the API's fields by the form's. */
const API_FIELDS: Readonly<Partial<Record<keyof KeyInput, string>>> = {
  name: "name",
  accountId: "account_id",
  models: "models",
  spendLimit: "spend_limit",
  spendLimitPeriod: "spend_limit_period",
  requestsPerMinute: "rate_limit",
  promptLog: "prompt_log",
  cache: "cache",
  expires: "expires_at",
};

interface FormProps {
  /** The key to change; null for a new one. */
  readonly known: Key | null;
  /** The account that a new key is for; null to choose it. */
  readonly account: string | null;
  readonly onClose: () => void;
  readonly onSaved: (key: Key, secret: string | null) => void;
}

/** A dialog for a new key, or for the settings of one. Calls `onSaved` with the key, and with its secret if it is new. */
export function KeyForm({ known, account, onClose, onSaved }: FormProps) {
  const { input, setInput, submit, errorOf, otherError, isBusy } = useKeyForm({ known, account, onSaved });
  const set = (name: keyof KeyInput) => (value: string | null) => setInput({ ...input, [name]: value });
  const action = known === null ? words.make : words.save;
  return (
    <Dialog
      title={known === null ? words.make : words.change(known.name)}
      onClose={onClose}
      onSubmit={submit}
      foot={<Foot action={action} isBusy={isBusy} onClose={onClose} />}
    >
      <Field
        label={words.name}
        hint={words.nameHint}
        value={input.name}
        onInput={set("name")}
        error={errorOf("name")}
        hasFocus
      />
      {known === null ? <Identity input={input} isForAny={account === null} onChange={setInput} /> : null}
      {input.kind === "inference" ? <Limits input={input} set={set} errorOf={errorOf} /> : null}
      <Field
        label={words.expires}
        hint={words.expiresHint}
        type="date"
        value={input.expires}
        onInput={set("expires")}
        error={errorOf("expires")}
      />
      <FormError error={otherError} />
    </Dialog>
  );
}

/** Returns the state of the form, the error of each field, and the error that belongs to no field. */
function useKeyForm({ known, account, onSaved }: Omit<FormProps, "onClose">) {
  const [input, setInput] = useState<KeyInput>(
    known === null ? { ...NEW_KEY, accountId: account } : readKey(known),
  );
  const [problem, setProblem] = useState<{ field: string; message: string } | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async () => {
    const found = findProblem(input);
    setProblem(found === null ? null : { field: found.field, message: words.problems[found.problem] });
    setError(null);
    if (found !== null) return;
    setBusy(true);
    try {
      const { key, secret } = await save(known, input);
      onSaved(key, secret);
    } catch (thrown) {
      setError(toApiError(thrown));
      setBusy(false);
    }
  };
  const errorOf = (field: keyof KeyInput) => {
    if (problem?.field === field) return problem.message;
    const apiField = API_FIELDS[field];
    return error?.field != null && apiField === error.field.split(".")[0] ? error.message : null;
  };
  const isShown = Object.keys(API_FIELDS).some((field) => errorOf(field as keyof KeyInput) !== null);
  const otherError = isShown ? null : error;
  return { input, setInput, submit, errorOf, otherError, isBusy };
}

function Foot({ action, isBusy, onClose }: { action: string; isBusy: boolean; onClose: () => void }) {
  return (
    <>
      <Button onClick={onClose}>{text.states.cancel}</Button>
      <Button kind="primary" isSubmit isBusy={isBusy}>
        {action}
      </Button>
    </>
  );
}

async function save(known: Key | null, input: KeyInput): Promise<{ key: Key; secret: string | null }> {
  const settings = toSettings(input);
  if (known !== null) {
    const { data } = await call("PATCH /api/admin/keys/{id}", { params: { id: known.id }, body: settings });
    return { key: data, secret: null };
  }
  const owner = input.accountId === null ? {} : { account_id: input.accountId };
  const body = { ...settings, kind: input.kind, ...owner };
  const made = await call("POST /api/admin/keys", { body });
  return { key: made.data, secret: made.key };
}

function Identity(props: { input: KeyInput; isForAny: boolean; onChange: (input: KeyInput) => void }) {
  const { input, isForAny, onChange } = props;
  return (
    <>
      <Select
        label={words.kind}
        hint={words.kindHints[input.kind]}
        value={input.kind}
        choices={Object.entries(words.kinds).map(([value, label]) => ({ value, label }))}
        onChange={(kind) => onChange({ ...input, kind: kind as KeyInput["kind"] })}
      />
      {isOperator.value && isForAny ? (
        <Combobox
          label={words.owner}
          hint={words.ownerHint}
          value={input.accountId}
          options={optionsOf("accounts")}
          onOpen={() => loadOptions("accounts")}
          onChange={(accountId) => onChange({ ...input, accountId })}
        />
      ) : null}
    </>
  );
}

/** The fields with whole numbers, and the meaning of an empty one. */
const COUNTS = [
  ["requestsPerMinute", "noLimit"],
  ["tokensPerMinute", "noLimit"],
  ["concurrent", "noLimit"],
] as const;

/** The fields with durations, and their hints. */
const DURATIONS = [
  ["promptLog", "promptLogHint"],
  ["cache", "cacheHint"],
] as const;

function Limits(props: {
  input: KeyInput;
  set: (name: keyof KeyInput) => (value: string) => void;
  errorOf: (field: keyof KeyInput) => string | null;
}) {
  const { input, set, errorOf } = props;
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
      <div class="two-fields">
        <Field
          label={words.spendLimit}
          inputMode="decimal"
          placeholder={words.noLimit}
          value={input.spendLimit}
          onInput={set("spendLimit")}
          error={errorOf("spendLimit")}
        />
        <Select
          label={words.spendLimitPeriod}
          value={input.spendLimitPeriod}
          choices={Object.entries(words.spendLimitPeriods).map(([value, label]) => ({ value, label }))}
          onChange={set("spendLimitPeriod")}
        />
      </div>
      <div class="two-fields">
        {COUNTS.map(([name, empty]) => (
          <Field
            key={name}
            label={words[name]}
            inputMode="numeric"
            placeholder={words[empty]}
            value={input[name]}
            onInput={set(name)}
            error={errorOf(name)}
          />
        ))}
      </div>
      {DURATIONS.map(([name, hint]) => (
        <DurationField
          key={name}
          label={words[name]}
          hint={words[hint]}
          placeholder={words.never}
          value={input[name]}
          onInput={set(name)}
          error={errorOf(name)}
        />
      ))}
    </>
  );
}

/** Shows the secret of a new key, which cannot be shown again. */
export function NewSecret({ secret, made, onClose }: { secret: string; made: Key; onClose: () => void }) {
  const isInference = made.kind === "inference";
  return (
    <Dialog
      title={words.made(made.name)}
      isWide
      onClose={onClose}
      onSubmit={onClose}
      foot={
        <Button kind="primary" isSubmit>
          {words.done}
        </Button>
      }
    >
      <p>{words.shownOnce}</p>
      <Code label={words.secret} value={secret} />
      {isInference ? <Snippets secret={secret} model={EXAMPLE_MODEL} /> : null}
    </Dialog>
  );
}
