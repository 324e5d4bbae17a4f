import { call } from "../../api/client.ts";
import { AccountPicker } from "../../parts/controls/account-picker.tsx";
import { Field } from "../../parts/controls/field.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Dialog, DialogButtons } from "../../parts/layout/dialog.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { forgetAccounts } from "../../state/accounts/accounts.ts";
import { useForm } from "../../state/form.ts";
import { text } from "../../text/text.ts";

/** The kind of an account. */
export type Kind = "organization" | "user";

interface Values {
  readonly name: string;
  readonly email: string;
  readonly owner: string | null;
}

const NOTHING: Values = { name: "", email: "", owner: null };

/** Creates a user, or an organization with its first owner. */
export function NewAccount(props: { kind: Kind; onClose: () => void; onMade: (id: string) => void }) {
  const { kind, onClose } = props;
  const form = useForm({
    draft: `new ${kind}`,
    initial: NOTHING,
    fields: ["name", "email", "owner"],
    send: (values) => create(kind, values),
    onSent({ id, name }) {
      forgetAccounts();
      showToast(text.people.created(name));
      props.onMade(id);
    },
  });
  return (
    <Dialog
      title={kind === "user" ? text.people.newUser : text.people.newOrganization}
      onClose={onClose}
      onSubmit={() => void form.submit()}
      foot={<DialogButtons submit={text.people.create} onClose={onClose} isBusy={form.isBusy} />}
    >
      <FormError error={form.error} form={form} />
      <Field
        label={text.people.name}
        error={form.errorOf("name")}
        value={form.values.name}
        onInput={(name) => form.set({ name })}
        isRequired
        hasFocus
      />
      {kind === "user" ? (
        <Field
          label={text.people.email}
          hint={text.people.emailHint}
          error={form.errorOf("email")}
          value={form.values.email}
          onInput={(email) => form.set({ email })}
        />
      ) : (
        <div class="field">
          <AccountPicker
            label={text.people.owner}
            showsLabel
            kind="user"
            value={form.values.owner}
            onChange={(owner) => form.set({ owner })}
          />
          <span class={form.errorOf("owner") === null ? "field-hint" : "field-error"}>
            {form.errorOf("owner") ?? text.people.ownerHint}
          </span>
        </div>
      )}
    </Dialog>
  );
}

async function create(kind: Kind, { name, email, owner }: Values) {
  if (kind === "user") {
    const body = { name, email: email.trim() || null };
    return (await call("POST /api/admin/users", { body })).data;
  }
  const body = owner === null ? { name } : { name, owner };
  return (await call("POST /api/admin/organizations", { body })).data;
}
