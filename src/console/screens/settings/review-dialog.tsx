import type { ConfigWritten } from "../../api/schema.ts";
import { Changes } from "../../parts/config/changes.tsx";
import { Button } from "../../parts/controls/button.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Dialog } from "../../parts/layout/dialog.tsx";
import { text } from "../../text/text.ts";
import type { SettingsForm } from "./use-settings.ts";

/** How the settings in force change, before the change is stored. */
export function ReviewDialog(props: { form: SettingsForm; written: ConfigWritten; onClose: () => void }) {
  const { form, written, onClose } = props;
  const save = () => void form.form.submit();
  return (
    <Dialog
      title={text.settings.reviewTitle}
      isWide
      onClose={onClose}
      onSubmit={save}
      foot={
        <>
          <Button onClick={onClose}>{text.states.cancel}</Button>
          <Button kind="primary" isSubmit isBusy={form.form.isBusy}>
            {text.lists.save}
          </Button>
        </>
      }
    >
      <p class="quiet">{text.settings.reviewAbout}</p>
      <Changes changes={written.changes} />
      <FormError error={form.form.error} form={form.hasSecret ? undefined : form.form} />
    </Dialog>
  );
}
