import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Field } from "../../parts/controls/field.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Dialog, DialogButtons } from "../../parts/layout/dialog.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { formatExactMoney } from "../../parts/values/format.ts";
import { type Form, useForm } from "../../state/form.ts";
import { text } from "../../text/text.ts";
import { parseAmount, readNanodollars } from "./ledger-rows.ts";
import { makeTransferId } from "./transfer-id.ts";

/** What changes the balance: credits that are added, or a correction up or down. */
export type ChangeKind = "credits" | "correction";

interface Values {
  readonly amount: string;
  readonly note: string;
  readonly expires: string;
  /** The id of the transfer, so that an attempt whose response was lost can be repeated. */
  readonly id: string;
}

interface ChangeProps {
  readonly kind: ChangeKind;
  readonly account: { readonly id: string; readonly name: string };
  /** Nanodollars. */
  readonly balance: number;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Adds credits or corrects a balance, in two steps: the form, and a question with the balance before and after. */
export function ChangeCredits(props: ChangeProps) {
  const { kind, account, onClose } = props;
  const [step, setStep] = useState<"form" | "confirm">("form");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [id] = useState(makeTransferId);
  const form = useForm<Values, void>({
    draft: `${kind} ${account.id}`,
    initial: { amount: "", note: "", expires: "", id },
    fields: ["amount", "note", "expires_at"],
    send: (values) => send(kind, account.id, values),
    onSent() {
      showToast(text.credits.done(printAmount(form.values.amount)));
      props.onDone();
      onClose();
    },
  });
  const next = () => {
    const found = findProblem(kind, form.values);
    setProblem(found);
    // The id belongs to what was typed, and stays with it.
    form.set({ id: form.values.id });
    if (found === null) setStep("confirm");
  };
  const isConfirming = step === "confirm" && form.error === null && !hasFieldError(form);
  const title = kind === "credits" ? text.credits.addTitle : text.credits.correctTitle;
  return (
    <Dialog
      title={title(account.name)}
      onClose={onClose}
      onSubmit={isConfirming ? () => void form.submit() : next}
      foot={
        isConfirming ? (
          <>
            <Button onClick={() => setStep("form")}>{text.credits.back}</Button>
            <Button kind="primary" isSubmit isBusy={form.isBusy}>
              {(kind === "credits" ? text.credits.doAdd : text.credits.doCorrect)(
                printAmount(form.values.amount),
              )}
            </Button>
          </>
        ) : (
          <DialogButtons submit={text.credits.next} onClose={onClose} isBusy={form.isBusy} />
        )
      }
    >
      {isConfirming ? (
        <Question {...props} amount={form.values.amount} />
      ) : (
        <Fields kind={kind} form={form} problem={problem} />
      )}
    </Dialog>
  );
}

function hasFieldError(form: Form<Values>): boolean {
  return ["amount", "note", "expires_at"].some((name) => form.errorOf(name) !== null);
}

function Fields({ kind, form, problem }: { kind: ChangeKind; form: Form<Values>; problem: Problem | null }) {
  const { values, set, errorOf } = form;
  const isCorrection = kind === "correction";
  return (
    <>
      <FormError error={form.error} form={form} />
      <Field
        label={text.credits.amount}
        hint={isCorrection ? text.credits.correctionHint : text.credits.amountHint}
        error={(problem?.field === "amount" ? problem.message : null) ?? errorOf("amount")}
        value={values.amount}
        onInput={(amount) => set({ amount })}
        inputMode="decimal"
        isRequired
        hasFocus
      />
      <Field
        label={text.credits.note}
        hint={text.credits.noteHint}
        error={(problem?.field === "note" ? problem.message : null) ?? errorOf("note")}
        value={values.note}
        onInput={(note) => set({ note })}
        isRequired={isCorrection}
      />
      {isCorrection ? null : (
        <Field
          label={text.credits.expires}
          hint={text.credits.expiresHint}
          error={errorOf("expires_at")}
          type="date"
          value={values.expires}
          onInput={(expires) => set({ expires })}
        />
      )}
    </>
  );
}

function Question({ kind, account, balance, amount }: ChangeProps & { amount: string }) {
  const ask = kind === "credits" ? text.credits.confirmAdd : text.credits.confirmCorrect;
  const after = balance + readNanodollars(amount);
  return (
    <>
      <p class="strong">{ask(printAmount(amount), account.name)}</p>
      <p>{text.credits.balanceAfter(formatExactMoney(balance), formatExactMoney(after))}</p>
      <p class="quiet">{text.credits.confirmAbout}</p>
    </>
  );
}

interface Problem {
  readonly field: "amount" | "note";
  readonly message: string;
}

/** Returns what is wrong with the values before they are sent; null if nothing is. */
function findProblem(kind: ChangeKind, { amount, note }: Values): Problem | null {
  const value = readNanodollars(amount);
  if (parseAmount(amount) === null) return { field: "amount", message: text.credits.notAnAmount };
  if (kind === "credits" && value <= 0) return { field: "amount", message: text.credits.notPositive };
  if (value === 0) return { field: "amount", message: text.credits.notZero };
  if (kind === "correction" && note.trim() === "") return { field: "note", message: text.credits.noteNeeded };
  return null;
}

function printAmount(amount: string): string {
  return formatExactMoney(readNanodollars(amount));
}

async function send(
  kind: ChangeKind,
  accountId: string,
  { amount, note, expires, id }: Values,
): Promise<void> {
  const params = { id: accountId };
  const body = { amount: parseAmount(amount) ?? amount, note: note.trim() === "" ? null : note, id };
  if (kind === "correction") await call("POST /api/admin/accounts/{id}/corrections", { params, body });
  else {
    const expires_at = expires === "" ? null : `${expires}T23:59:59.999Z`;
    await call("POST /api/admin/accounts/{id}/credits", { params, body: { ...body, expires_at } });
  }
}
