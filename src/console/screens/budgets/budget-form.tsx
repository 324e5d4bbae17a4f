import { useState } from "preact/hooks";
import { type ApiError, call } from "../../api/client.ts";
import type { Budget } from "../../api/schema.ts";
import { Combobox } from "../../parts/controls/combobox.tsx";
import { Field, Select } from "../../parts/controls/field.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Dialog, DialogButtons } from "../../parts/layout/dialog.tsx";
import {
  type BudgetInput,
  type BudgetProblem,
  findBudgetProblem,
  NEW_BUDGET,
  readBudget,
  toBudgetChange,
  toNewBudget,
} from "../../state/accounts/budget-input.ts";
import { toApiError } from "../../state/load.ts";
import { loadOptions, optionsOf } from "../../state/names.ts";
import {
  useKeyOptions,
  useMemberOptions,
  useTagOptions,
  useTeamOptions,
} from "../../state/options/account-options.ts";
import { isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";

const words = text.budgets;

/** What a new budget limits. */
export type BudgetSubject = Pick<BudgetInput, "subject" | "value">;

interface FormProps {
  /** The budget to change; null for a new one. */
  readonly known: Budget | null;
  /** The account that a new budget is for; null to choose it. */
  readonly account: string | null;
  /** What a new budget limits; absent: it is chosen. */
  readonly subject?: BudgetSubject | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

interface PartProps {
  readonly input: BudgetInput;
  readonly set: (change: Partial<BudgetInput>) => void;
  readonly errorOf: (field: BudgetProblem) => string | null;
}

/** A dialog for a new budget, or for the fields of one that can change. */
export function BudgetForm({ known, account, subject, onClose, onSaved }: FormProps) {
  const { input, set, submit, errorOf, error, isBusy } = useBudgetForm({ known, account, subject, onSaved });
  return (
    <Dialog
      title={known === null ? words.make : words.change(known.name)}
      onClose={onClose}
      onSubmit={submit}
      foot={
        <DialogButtons submit={known === null ? words.make : words.save} onClose={onClose} isBusy={isBusy} />
      }
    >
      {known === null && subject === undefined ? (
        <Subject input={input} isForAny={account === null} set={set} errorOf={errorOf} />
      ) : null}
      <Field
        label={words.limit}
        inputMode="decimal"
        value={input.limit}
        onInput={(limit) => set({ limit })}
        error={errorOf("limit")}
        hasFocus={known !== null}
      />
      {known === null ? <Period input={input} set={set} errorOf={errorOf} /> : null}
      <Reaction input={input} set={set} errorOf={errorOf} />
      <Field
        label={words.name}
        hint={known === null ? words.nameHint : undefined}
        value={input.name}
        onInput={(name) => set({ name })}
      />
      <FormError error={error} />
    </Dialog>
  );
}

function useBudgetForm({ known, account, subject, onSaved }: Omit<FormProps, "onClose">) {
  const [input, setInput] = useState(
    known === null ? { ...NEW_BUDGET, ...subject, accountId: account } : readBudget(known),
  );
  const [problem, setProblem] = useState<BudgetProblem | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async () => {
    const found = findBudgetProblem(input);
    setProblem(found);
    setError(null);
    if (found !== null) return;
    setBusy(true);
    try {
      await save(known, input);
      onSaved();
    } catch (thrown) {
      setError(toApiError(thrown));
      setBusy(false);
    }
  };
  const errorOf = (field: BudgetProblem) => (problem === field ? words.problems[field] : null);
  const set = (change: Partial<BudgetInput>) => setInput({ ...input, ...change });
  return { input, set, submit, errorOf, error, isBusy };
}

async function save(known: Budget | null, input: BudgetInput): Promise<void> {
  if (known === null) await call("POST /api/admin/budgets", { body: toNewBudget(input) });
  else await call("PATCH /api/admin/budgets/{id}", { params: { id: known.id }, body: toBudgetChange(input) });
}

function choicesOf(labels: Readonly<Record<string, string>>) {
  return Object.entries(labels).map(([value, label]) => ({ value, label }));
}

function Subject({ input, isForAny, set, errorOf }: PartProps & { isForAny: boolean }) {
  const { subject, accountId, value } = input;
  const options = useSubjectOptions(accountId);
  return (
    <>
      {isOperator.value && isForAny ? (
        <Combobox
          label={words.account}
          hint={words.ownerHint}
          value={accountId}
          options={optionsOf("accounts")}
          onOpen={() => loadOptions("accounts")}
          onChange={(chosen) => set({ accountId: chosen, value: "" })}
        />
      ) : null}
      <Select
        label={words.subject}
        value={subject}
        choices={choicesOf(words.subjects)}
        onChange={(chosen) => set({ subject: chosen as BudgetInput["subject"], value: "" })}
      />
      {subject === "account" ? null : subject === "end_user" ? (
        <Field
          label={words.subjectIds[subject]}
          hint={words.eachHint}
          value={value}
          onInput={(typed) => set({ value: typed })}
          error={errorOf("value")}
        />
      ) : (
        <Combobox
          key={subject}
          label={words.subjectIds[subject]}
          hint={subject === "tag" ? words.eachHint : undefined}
          error={errorOf("value")}
          value={value === "" ? null : value}
          options={options[subject]}
          onChange={(chosen) => set({ value: chosen ?? "" })}
          allowsOther
        />
      )}
    </>
  );
}

/** Returns what a budget can be for in an account: its keys, members and teams, and the tags of its requests. */
function useSubjectOptions(account: string | null) {
  const key = useKeyOptions(account);
  const member = useMemberOptions(account);
  const team = useTeamOptions(account);
  const tag = useTagOptions(account);
  return { key, member, team, tag };
}

function Period({ input, set, errorOf }: PartProps) {
  return (
    <>
      <Select
        label={words.period}
        hint={words.periodHint}
        value={input.period}
        choices={choicesOf(words.periods)}
        onChange={(period) => set({ period: period as BudgetInput["period"] })}
      />
      {input.period === "rolling" ? (
        <Field
          label={words.days}
          inputMode="numeric"
          value={input.days}
          onInput={(days) => set({ days })}
          error={errorOf("days")}
        />
      ) : null}
    </>
  );
}

function Reaction({ input, set, errorOf }: PartProps) {
  return (
    <div class="two-fields">
      <Select
        label={words.action}
        value={input.action}
        choices={choicesOf(words.actions)}
        onChange={(action) => set({ action: action as BudgetInput["action"] })}
      />
      <Field
        label={words.warnAt}
        inputMode="decimal"
        value={input.warnAt}
        onInput={(warnAt) => set({ warnAt })}
        error={errorOf("warnAt")}
      />
    </div>
  );
}
