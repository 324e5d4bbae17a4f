import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { Changes } from "../../parts/config/changes.tsx";
import { Button } from "../../parts/controls/button.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Dialog, DialogButtons } from "../../parts/layout/dialog.tsx";
import { Skeleton } from "../../parts/layout/states.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { useForm } from "../../state/form.ts";
import { useLoad } from "../../state/load.ts";
import { text } from "../../text/text.ts";

/** A button that reads the configuration file again, after it has shown what would change. */
export function ReloadButton({ onReloaded }: { onReloaded: () => void }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button icon="refresh" onClick={() => setOpen(true)}>
        {text.settings.reload.action}
      </Button>
      {isOpen ? (
        <ReloadDialog
          onClose={() => setOpen(false)}
          onReloaded={() => {
            setOpen(false);
            onReloaded();
          }}
        />
      ) : null}
    </>
  );
}

function ReloadDialog(props: { onClose: () => void; onReloaded: () => void }) {
  const { data, error } = useLoad("reload", async (signal) => {
    const query = { dry_run: "true" };
    return (await call("POST /api/admin/settings/reload", { query, signal })).data.changes;
  });
  const form = useForm<object, unknown>({
    draft: "reload",
    initial: {},
    fields: [],
    send: () => call("POST /api/admin/settings/reload", {}),
    onSent() {
      showToast(text.settings.reload.done);
      props.onReloaded();
    },
  });
  return (
    <Dialog
      title={text.settings.reload.title}
      isWide
      onClose={props.onClose}
      onSubmit={() => void form.submit()}
      foot={
        <DialogButtons
          submit={text.settings.reload.apply}
          onClose={props.onClose}
          isBusy={form.isBusy}
          isDisabled={data === null}
        />
      }
    >
      <p class="quiet">{text.settings.reload.about}</p>
      <FormError error={form.error ?? error} form={form} />
      {data === null ? error === null ? <Skeleton lines={2} /> : null : <Changes changes={data} />}
    </Dialog>
  );
}
