import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Operations, ProviderKey } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Combobox } from "../../parts/controls/combobox.tsx";
import { Field } from "../../parts/controls/field.tsx";
import { FieldError } from "../../parts/controls/field-error.tsx";
import { ListInput } from "../../parts/controls/list-input.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Dialog } from "../../parts/layout/dialog.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { type Form, useForm } from "../../state/form.ts";
import { useLoad } from "../../state/load.ts";
import { useMemberOptions } from "../../state/options/account-options.ts";
import { loadModelPatterns, modelPatterns } from "../../state/options/model-patterns.ts";
import { text } from "../../text/text.ts";
import { loadProviders } from "./load-providers.ts";

type Change = Operations["PATCH /api/admin/accounts/{id}/provider-keys/{key_id}"]["body"];

interface Values {
  readonly provider: string | null;
  readonly key: string;
  readonly name: string;
  readonly models: string;
  readonly members: string;
  readonly order: string;
}

/** Adds a provider key, or changes one. The secret is sent once and never shown again. */
export function KeyForm(props: {
  account: string;
  /** The key to change; null to add one. */
  changed: ProviderKey | null;
  onClose: () => void;
  onDone: () => void;
}) {
  const { account, changed, onClose } = props;
  const [problem, setProblem] = useState<"provider" | "order" | null>(null);
  const form = useForm<Values, { readonly data: ProviderKey }>({
    draft: `provider key ${changed?.id ?? account}`,
    initial: toValues(changed),
    fields: ["provider", "key", "name", "models", "members", "order"],
    send: (values) => send(account, changed, values),
    onSent({ data }) {
      showToast(text.providerKeys.saved(data.name));
      props.onDone();
    },
  });
  const submit = () => {
    const found = findProblem(form.values);
    setProblem(found);
    if (found === null) void form.submit();
  };
  return (
    <Dialog
      title={changed === null ? text.providerKeys.add : text.providerKeys.changeTitle(changed.name)}
      onClose={onClose}
      onSubmit={submit}
      foot={
        <>
          <Button onClick={onClose}>{text.providerKeys.cancel}</Button>
          <Button kind="primary" isSubmit isBusy={form.isBusy}>
            {changed === null ? text.providerKeys.add : text.providerKeys.save}
          </Button>
        </>
      }
    >
      <FormError error={form.error} />
      {changed === null ? <ProviderField form={form} isMissing={problem === "provider"} /> : null}
      <SecretField form={form} isNew={changed === null} />
      <Fields account={account} form={form} isWrongOrder={problem === "order"} />
    </Dialog>
  );
}

function findProblem({ provider, order }: Values): "provider" | "order" | null {
  if (provider === null) return "provider";
  return /^\d{0,7}$/.test(order.trim()) ? null : "order";
}

function ProviderField({ form, isMissing }: { form: Form<Values>; isMissing: boolean }) {
  const { data } = useLoad("providers", loadProviders);
  const options = (data ?? []).filter(({ byokEnabled }) => byokEnabled);
  const error = isMissing ? text.providerKeys.chooseProvider : form.errorOf("provider");
  return (
    <div class="field">
      <Combobox
        label={text.providerKeys.provider}
        value={form.values.provider}
        options={options.map(({ slug, name }) => ({ value: slug, label: name, detail: slug }))}
        onChange={(provider) => form.set({ provider })}
        allowsOther
      />
      <FieldError error={error} />
    </div>
  );
}

function SecretField({ form, isNew }: { form: Form<Values>; isNew: boolean }) {
  return (
    <Field
      label={isNew ? text.providerKeys.secret : text.providerKeys.newSecret}
      hint={isNew ? text.providerKeys.secretHint : text.providerKeys.newSecretHint}
      error={form.errorOf("key")}
      type="password"
      autocomplete="new-password"
      value={form.values.key}
      onInput={(key) => form.set({ key })}
      isRequired={isNew}
    />
  );
}

function Fields(props: { account: string; form: Form<Values>; isWrongOrder: boolean }) {
  const { account, form, isWrongOrder } = props;
  const { values, set, errorOf } = form;
  const { name, nameHint, models, modelsHint, members, membersHint, order, orderHint, badNumber } =
    text.providerKeys;
  return (
    <>
      <Field
        label={name}
        hint={nameHint}
        error={errorOf("name")}
        value={values.name}
        onInput={(name) => set({ name })}
      />
      <ListInput
        label={models}
        hint={modelsHint}
        error={errorOf("models")}
        value={values.models}
        onInput={(models) => set({ models })}
        options={modelPatterns()}
        onOpen={loadModelPatterns}
      />
      <ListInput
        label={members}
        hint={membersHint}
        error={errorOf("members")}
        value={values.members}
        onInput={(members) => set({ members })}
        options={useMemberOptions(account)}
      />
      <Field
        label={order}
        hint={orderHint}
        error={isWrongOrder ? badNumber : errorOf("order")}
        value={values.order}
        onInput={(order) => set({ order })}
        inputMode="numeric"
      />
    </>
  );
}

function toValues(key: ProviderKey | null): Values {
  return {
    provider: key?.provider ?? null,
    key: "",
    name: key?.name ?? "",
    models: key?.models?.join("\n") ?? "",
    members: key?.members?.join("\n") ?? "",
    order: key?.order.toString() ?? "",
  };
}

function send(
  account: string,
  changed: ProviderKey | null,
  values: Values,
): Promise<{ readonly data: ProviderKey }> {
  const settings = toSettings(values);
  const secret = values.key.trim();
  if (changed === null) {
    const body = { ...settings, provider: values.provider ?? "", key: secret };
    return call("POST /api/admin/accounts/{id}/provider-keys", { params: { id: account }, body });
  }
  const body = secret === "" ? settings : { ...settings, key: secret };
  const params = { id: account, key_id: changed.id };
  return call("PATCH /api/admin/accounts/{id}/provider-keys/{key_id}", { params, body });
}

/** Empty texts are left out, or mean all. */
function toSettings({ name, models, members, order }: Values): Change {
  return {
    ...(name.trim() === "" ? {} : { name: name.trim() }),
    ...(order.trim() === "" ? {} : { order: Number(order) }),
    models: readList(models),
    members: readList(members),
  };
}

function readList(typed: string): string[] | null {
  const lines = typed
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter(Boolean);
  return lines.length === 0 ? null : lines;
}
