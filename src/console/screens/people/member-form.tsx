import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Member } from "../../api/schema.ts";
import { AccountPicker } from "../../parts/controls/account-picker.tsx";
import { Field, Select } from "../../parts/controls/field.tsx";
import { FieldError } from "../../parts/controls/field-error.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Dialog, DialogButtons } from "../../parts/layout/dialog.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { type Form, useForm } from "../../state/form.ts";
import { can, isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { readNumber } from "../policy/policy-form.ts";

type Role = Member["role"];
type NamedMember = Member & { readonly user_name: string | null };

const ROLES: readonly Role[] = ["owner", "admin", "billing", "auditor", "member"];

interface Values {
  readonly user: string;
  readonly role: Role;
  readonly limit: string;
}

interface FormProps {
  readonly organization: string;
  /** The member to change; null to add one. */
  readonly member: NamedMember | null;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Adds a member, or changes the role and limit of one. */
export function MemberForm(props: FormProps) {
  const { member, onClose } = props;
  const { form, problem, submit } = useMemberForm(props);
  const isNew = member === null;
  const isRuled = member?.source === "oidc";
  return (
    <Dialog
      title={isNew ? text.people.addMember : text.people.editMember(member.user_name ?? member.user_id)}
      onClose={onClose}
      onSubmit={submit}
      foot={
        <DialogButtons
          submit={isNew ? text.people.add : text.people.saveMember}
          onClose={onClose}
          isBusy={form.isBusy}
        />
      }
    >
      <FormError error={form.error} form={form} />
      {isNew ? <UserField form={form} /> : null}
      <Select
        label={text.people.role}
        error={form.errorOf("role")}
        value={form.values.role}
        choices={listRoles(form.values.role).map((value) => ({ value, label: text.people.roles[value] }))}
        hint={isRuled ? text.people.ruledRole : undefined}
        isDisabled={isRuled}
        onChange={(role) => form.set({ role: role as Role })}
      />
      <Field
        label={text.people.dailyLimit}
        hint={text.people.dailyLimitHint}
        error={problem ?? form.errorOf("daily_limit")}
        value={form.values.limit}
        onInput={(limit) => form.set({ limit })}
        inputMode="decimal"
      />
    </Dialog>
  );
}

/** Returns the roles that the person may give: owners are made by owners only. */
function listRoles(present: Role): readonly Role[] {
  return ROLES.filter((role) => role === present || role !== "owner" || can("manage_owners"));
}

/** Returns the state of the form, the problem of the daily limit (null if there is none), and the function that sends the form. */
function useMemberForm({ organization: id, member, onDone }: FormProps) {
  const [problem, setProblem] = useState<string | null>(null);
  const form = useForm<Values, unknown>({
    draft: `member ${id} ${member?.user_id}`,
    initial: {
      user: member?.user_id ?? "",
      role: member?.role ?? "member",
      limit: member?.daily_limit?.toString() ?? "",
    },
    fields: ["user_id", "role", "daily_limit"],
    send: ({ user, role, limit }) =>
      call("PUT /api/admin/organizations/{id}/members/{user_id}", {
        params: { id, user_id: user.trim() },
        body: { role, daily_limit: readNumber(limit, { isWhole: false }) ?? null },
      }),
    onSent() {
      showToast(text.people.memberSaved(member?.user_name ?? form.values.user));
      onDone();
    },
  });
  const submit = () => {
    const isWrong = readNumber(form.values.limit, { isWhole: false }) === undefined;
    setProblem(isWrong ? text.people.notDollars : null);
    if (!isWrong) void form.submit();
  };
  return { form, problem, submit };
}

/** The user to add: chosen by name by the operator, who alone can list users. */
function UserField({ form }: { form: Form<Values> }) {
  const { values, set, errorOf } = form;
  if (isOperator.value)
    return (
      <div class="field">
        <AccountPicker
          label={text.people.user}
          showsLabel
          kind="user"
          value={values.user === "" ? null : values.user}
          onChange={(user) => set({ user: user ?? "" })}
        />
        <FieldError error={errorOf("user_id")} />
      </div>
    );
  return (
    <Field
      label={text.people.user}
      hint={text.people.userHint}
      error={errorOf("user_id")}
      value={values.user}
      onInput={(user) => set({ user })}
      isRequired
      hasFocus
    />
  );
}
