import type { ComponentChildren } from "preact";
import type { Form } from "../../state/form.ts";
import { text } from "../../text/text.ts";
import { Button } from "../controls/button.tsx";

/** The buttons under a form: save and discard, which need a change, and further ones. */
export function SaveBar<Values>({ form, children }: { form: Form<Values>; children?: ComponentChildren }) {
  return (
    <div class="row wrap">
      <Button kind="primary" isSubmit isBusy={form.isBusy} isDisabled={!form.isChanged}>
        {text.lists.save}
      </Button>
      {form.isChanged ? (
        <>
          <Button kind="bare" onClick={form.reset}>
            {text.lists.discard}
          </Button>
          <span class="faint">{text.lists.unsaved}</span>
        </>
      ) : null}
      <span class="grow" />
      {children}
    </div>
  );
}
