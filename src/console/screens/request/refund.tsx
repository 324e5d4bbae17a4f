import { call } from "../../api/client.ts";
import type { GenerationDetails } from "../../api/schema.ts";
import { Field } from "../../parts/controls/field.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Dialog, DialogButtons } from "../../parts/layout/dialog.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { formatExactMoney } from "../../parts/values/format.ts";
import { useForm } from "../../state/form.ts";
import { text } from "../../text/text.ts";

const words = text.request;

/** A dialog that gives back the cost of a request, or a part of it. */
export function Refund(props: { generation: GenerationDetails; onClose: () => void; onDone: () => void }) {
  const { id, total_cost_nanodollars, account } = props.generation;
  const form = useForm({
    draft: `refund ${id}`,
    initial: { amount: "", note: "" },
    fields: ["amount"],
    send({ amount, note }) {
      const body = { amount: amount.trim() || null, note: note.trim() || null };
      return call("POST /api/admin/generations/{id}/refund", { params: { id }, body });
    },
    onSent({ data }) {
      showToast(words.refunded(formatExactMoney(data.amount_nanodollars), account?.name ?? ""));
      props.onDone();
      props.onClose();
    },
  });
  const { values, set } = form;
  return (
    <Dialog
      title={words.refundTitle}
      onClose={props.onClose}
      onSubmit={() => void form.submit()}
      foot={<DialogButtons submit={words.refund} onClose={props.onClose} isBusy={form.isBusy} />}
    >
      <FormError error={form.error} form={form} />
      <p>{words.refundAbout(formatExactMoney(total_cost_nanodollars), account?.name ?? account?.id ?? "")}</p>
      <Field
        label={words.refundAmount}
        hint={words.refundHint}
        value={values.amount}
        onInput={(amount) => set({ amount })}
        inputMode="decimal"
        placeholder={String(total_cost_nanodollars / 1e9)}
        error={form.errorOf("amount")}
        hasFocus
      />
      <Field label={words.refundNote} value={values.note} onInput={(note) => set({ note })} />
    </Dialog>
  );
}
