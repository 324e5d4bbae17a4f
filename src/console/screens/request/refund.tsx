import { useState } from "preact/hooks";
import { type ApiError, call } from "../../api/client.ts";
import type { GenerationDetails } from "../../api/generation.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { formatExactMoney } from "../../parts/format.ts";
import { showToast } from "../../parts/toast.tsx";
import { toApiError } from "../../state/load.ts";
import { text } from "../../text/text.ts";

const words = text.request;

/** A dialog that gives back the cost of a request, or a part of it. */
export function Refund(props: { generation: GenerationDetails; onClose: () => void; onDone: () => void }) {
  const { id, total_cost_nanodollars, account } = props.generation;
  const [amount, setAmount] = useState("");
  const [note, setNote] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async () => {
    setBusy(true);
    setError(null);
    try {
      const body = { amount: amount.trim() || null, note: note.trim() || null };
      const { data } = await call("POST /api/admin/generations/{id}/refund", { params: { id }, body });
      showToast(words.refunded(formatExactMoney(data.amount_nanodollars), account?.name ?? ""));
      props.onDone();
      props.onClose();
    } catch (thrown) {
      setError(toApiError(thrown));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={words.refundTitle}
      onClose={props.onClose}
      onSubmit={submit}
      foot={
        <>
          <Button onClick={props.onClose}>{text.states.cancel}</Button>
          <Button kind="primary" isSubmit isBusy={isBusy}>
            {words.refund}
          </Button>
        </>
      }
    >
      <p>{words.refundAbout(formatExactMoney(total_cost_nanodollars), account?.name ?? account?.id ?? "")}</p>
      <Field
        label={words.refundAmount}
        hint={words.refundHint}
        value={amount}
        onInput={setAmount}
        inputMode="decimal"
        placeholder={String(total_cost_nanodollars / 1e9)}
        error={error?.field === "amount" ? error.message : null}
        hasFocus
      />
      <Field label={words.refundNote} value={note} onInput={setNote} />
      {error === null || error.field === "amount" ? null : (
        <p class="field-error" role="alert">
          {error.message}
        </p>
      )}
    </Dialog>
  );
}
