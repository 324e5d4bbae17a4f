import { useState } from "preact/hooks";
import { Button } from "../../parts/controls/button.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Confirm } from "../../parts/layout/dialog.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { useForm } from "../../state/form.ts";
import { text } from "../../text/text.ts";
import { type AccountFields, changeAccount } from "./change-account.ts";

/** Closes an account after a question, or opens it again. */
export function CloseAccount({ account, onChanged }: { account: AccountFields; onChanged: () => void }) {
  const { id, name, closed_at } = account;
  const isClosed = closed_at !== null;
  const [isAsking, setAsking] = useState(false);
  const form = useForm({
    draft: `close ${id}`,
    initial: {},
    fields: [],
    send: () => changeAccount(id, { closed: !isClosed }),
    onSent() {
      setAsking(false);
      showToast((isClosed ? text.people.reopened : text.people.closed)(name));
      onChanged();
    },
  });
  return (
    <section class="card">
      <div class="card-body row wrap">
        <p class="grow quiet">{isClosed ? text.people.reopenAbout : text.people.closeAbout}</p>
        {isClosed ? (
          <Button isBusy={form.isBusy} onClick={() => void form.submit()}>
            {text.people.reopen}
          </Button>
        ) : (
          <Button kind="danger" onClick={() => setAsking(true)}>
            {text.people.close}
          </Button>
        )}
      </div>
      {isAsking ? null : <FormError error={form.error} form={form} />}
      {isAsking ? (
        <Confirm
          title={text.people.closeTitle(name)}
          action={text.people.close}
          isBusy={form.isBusy}
          onConfirm={() => void form.submit()}
          onClose={() => setAsking(false)}
        >
          <FormError error={form.error} form={form} />
          <p>{text.people.closeAsk(name)}</p>
        </Confirm>
      ) : null}
    </section>
  );
}
