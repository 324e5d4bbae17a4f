import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { ConfigEdit } from "../../parts/config/config-types.ts";
import { storedAt } from "../../parts/config/read-config.ts";
import { printSecret, SecretField } from "../../parts/config/secret-field.tsx";
import { Check, Field } from "../../parts/controls/field.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { Confirm, Dialog, DialogButtons } from "../../parts/layout/dialog.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { text } from "../../text/text.ts";
import { ConnectFoot } from "./connect-foot.tsx";
import { type KeyRow, type NamedKey, pathOf } from "./provider-rows.ts";
import { hasFailed, TrialLines, testBeforeSaving, useTrial } from "./trials.tsx";
import type { ProviderPart } from "./use-providers.ts";

const words = text.providers.provider;

interface DialogProps {
  readonly part: ProviderPart;
  /** All keys of the provider. */
  readonly keys: readonly KeyRow[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Adds a key, which is tested first. */
export function AddKey({ part, keys, onClose, onDone }: DialogProps) {
  const { row, setup, providers } = part;
  const [values, setValues] = useState({ id: freeId(keys), key: "", weight: "1" });
  const [showsProblems, setShowsProblems] = useState(false);
  const trials = useTrial();
  const saving = useAction();
  const problems = {
    id: findIdProblem(values.id, keys),
    key: values.key.trim() === "" ? text.providers.connect.missing : null,
    weight: findWeightProblem(values.weight),
  };
  const change = (changes: Partial<typeof values>) => {
    setValues({ ...values, ...changes });
    trials.forget();
  };
  const check = () => {
    setShowsProblems(true);
    return Object.values(problems).every((problem) => problem === null);
  };
  const key = { id: values.id, key: values.key.trim(), weight: Number(values.weight), enabled: true };
  const settings = withOnlyKey(part, key);
  const save = () =>
    saving.run(async () => {
      if ((await testBeforeSaving(trials, row.slug, settings, key.id)) === null) return;
      await providers.config.save([addEdit(part, key)]);
      showToast(words.keySaved(key.id));
      onDone();
    });
  return (
    <Dialog
      title={words.addKeyTitle(row.name)}
      onClose={onClose}
      onSubmit={() => (check() ? void save() : undefined)}
      foot={
        <ConnectFoot
          trial={trials.trial}
          isSaving={saving.isBusy}
          onTest={() => (check() ? void trials.run(row.slug, settings, key.id) : undefined)}
        />
      }
    >
      <FormError error={saving.error} />
      <SecretField
        label={text.providers.connect.key}
        stored={null}
        value={values.key}
        hint={text.providers.connect.keyHints[setup?.key_kind ?? "text"]}
        error={showsProblems ? problems.key : null}
        hasFocus
        onInput={(typed) => change({ key: typed })}
      />
      <Field
        label={text.providers.connect.keyId}
        hint={text.providers.connect.keyIdHint}
        value={values.id}
        error={problems.id}
        onInput={(id) => change({ id })}
      />
      <WeightField value={values.weight} onInput={(weight) => change({ weight })} />
      <TrialLines trial={trials.trial} />
      {hasFailed(trials.trial) ? <p class="note">{text.providers.connect.warning}</p> : null}
    </Dialog>
  );
}

/** Replaces the secret of a key, after a test of the new one. */
export function RotateKey({ part, row: key, onClose, onDone }: DialogProps & { row: KeyRow }) {
  const { row, setup } = part;
  const [typed, setTyped] = useState("");
  const [showsMissing, setShowsMissing] = useState(false);
  const trials = useTrial();
  const saving = useAction();
  const secret = typed.trim();
  const settings = withOnlyKey(part, { id: key.path === null ? "new" : key.id, key: secret });
  const id = key.path === null ? "new" : key.id;
  const check = () => {
    setShowsMissing(secret === "");
    return secret !== "";
  };
  const save = () =>
    saving.run(async () => {
      if ((await testBeforeSaving(trials, row.slug, settings, id)) === null) return;
      const params = { id: key.secret?.id ?? "" };
      await call("PUT /api/admin/config/secrets/{id}", { params, body: { value: secret } });
      showToast(words.rotated(key.id));
      onDone();
    });
  return (
    <Dialog
      title={words.rotateTitle(key.id)}
      onClose={onClose}
      onSubmit={() => (check() ? void save() : undefined)}
      foot={
        <ConnectFoot
          trial={trials.trial}
          isSaving={saving.isBusy}
          onTest={() => (check() ? void trials.run(row.slug, settings, id) : undefined)}
        />
      }
    >
      <FormError error={saving.error} />
      <p>
        {words.rotateAbout} {key.secret === null ? null : <code>{printSecret(key.secret)}</code>}
      </p>
      <SecretField
        label={words.newKey}
        stored={null}
        value={typed}
        hint={text.providers.connect.keyHints[setup?.key_kind ?? "text"]}
        error={showsMissing ? text.providers.connect.missing : null}
        hasFocus
        onInput={(value) => {
          setTyped(value);
          trials.forget();
        }}
      />
      <TrialLines trial={trials.trial} />
      {hasFailed(trials.trial) ? <p class="note">{text.providers.connect.warning}</p> : null}
    </Dialog>
  );
}

/** Changes the weight of a key, and whether it is used. */
export function EditKey({ part, row: key, onClose, onDone }: DialogProps & { row: KeyRow }) {
  const [weight, setWeight] = useState(String(key.weight));
  const [isEnabled, setEnabled] = useState(key.isEnabled);
  const saving = useAction();
  const save = () =>
    saving.run(async () => {
      const path = key.path ?? [];
      const value = { id: key.id, key: refer(key), weight: Number(weight), enabled: isEnabled };
      await part.providers.config.save([{ path, value }]);
      showToast(words.keySaved(key.id));
      onDone();
    });
  return (
    <Dialog
      title={words.editKeyTitle(key.id)}
      onClose={onClose}
      onSubmit={() => (findWeightProblem(weight) === null ? void save() : undefined)}
      foot={<DialogButtons submit={text.providers.connect.save} onClose={onClose} isBusy={saving.isBusy} />}
    >
      <FormError error={saving.error} />
      <WeightField value={weight} onInput={setWeight} />
      <Check label={words.enabled} isChecked={isEnabled} onChange={setEnabled} />
    </Dialog>
  );
}

/** Removes a key and its secret, after a question. */
export function RemoveKey({ part, row: key, onClose, onDone }: DialogProps & { row: KeyRow }) {
  const removing = useAction();
  const remove = () =>
    removing.run(async () => {
      await part.providers.config.save([removeEdit(part, key)]);
      showToast(words.keyRemoved(key.id));
      onDone();
    });
  return (
    <Confirm
      title={words.removeKeyTitle(key.id)}
      action={words.removeKey}
      isBusy={removing.isBusy}
      onConfirm={() => void remove()}
      onClose={onClose}
    >
      <FormError error={removing.error} />
      <p>{words.removeKeyAbout}</p>
    </Confirm>
  );
}

function WeightField({ value, onInput }: { value: string; onInput: (value: string) => void }) {
  return (
    <Field
      label={words.weight}
      hint={words.weightHint}
      inputMode="numeric"
      value={value}
      error={findWeightProblem(value)}
      onInput={onInput}
    />
  );
}

function findWeightProblem(typed: string): string | null {
  return /^\d{1,4}$/.test(typed.trim()) && Number(typed) <= 1_000 ? null : words.badWeight;
}

function findIdProblem(id: string, keys: readonly KeyRow[]): string | null {
  if (!/^[a-z0-9][a-z0-9-]{0,31}$/.test(id)) return words.badKeyId;
  return keys.some((key) => key.id === id && key.variable === null) ? words.usedKeyId : null;
}

/** Returns the first name that no key has: `main`, then `key-2`. */
function freeId(keys: readonly KeyRow[]): string {
  const names = ["main", ...keys.map((_, at) => `key-${at + 2}`), `key-${keys.length + 2}`];
  return names.find((name) => keys.every(({ id }) => id !== name)) ?? "";
}

function refer({ secret }: KeyRow): string {
  return `\${secret:${secret?.id ?? ""}}`;
}

/** Returns the stored settings of the provider with one key in place of the stored ones. */
function withOnlyKey({ row, providers }: ProviderPart, key: NamedKey): object {
  const config = providers.config.data;
  const stored = (config === null ? {} : storedAt(config, pathOf(row.slug))) ?? {};
  return { ...stored, enabled: true, api_keys: [key] };
}

/** Keys without ids are one setting together. */
function addEdit({ row, providers }: ProviderPart, key: NamedKey): ConfigEdit {
  const path = pathOf(row.slug, "api_keys");
  const config = providers.config.data;
  const stored = ((config === null ? [] : storedAt(config, path)) ?? []) as readonly (string | NamedKey)[];
  const isOneSetting = stored.some((one) => typeof one === "string");
  return isOneSetting ? { path, value: [...stored, key] } : { path: [...path, key.id], value: key };
}

function removeEdit({ row, providers }: ProviderPart, key: KeyRow): ConfigEdit {
  const path = pathOf(row.slug, "api_keys");
  const config = providers.config.data;
  const stored = ((config === null ? [] : storedAt(config, path)) ?? []) as readonly (string | NamedKey)[];
  if (stored.every((one) => typeof one !== "string")) return { path: [...path, key.id], remove: true };
  const left = stored.filter((one) => (typeof one === "string" ? one : one.key) !== refer(key));
  return left.length === 0 ? { path, remove: true } : { path, value: left };
}
