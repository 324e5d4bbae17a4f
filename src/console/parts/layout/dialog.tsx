import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { text } from "../../text/text.ts";
import { Button } from "../controls/button.tsx";

/** A dialog in front of the page: it takes the focus, and Escape and the backdrop close it. It exists only while it is open. */
export function Dialog(props: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  foot?: ComponentChildren;
  isWide?: boolean;
  /** Called when the form of the dialog is submitted. */
  onSubmit?: () => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const submit = (event: Event) => {
    event.preventDefault();
    props.onSubmit?.();
  };
  return (
    <dialog
      ref={dialog}
      class={props.isWide ? "dialog wide" : "dialog"}
      aria-labelledby={id}
      onClose={props.onClose}
      onMouseDown={(event) => {
        if (event.target === dialog.current) dialog.current?.close();
      }}
    >
      <form onSubmit={submit}>
        <div class="dialog-head">
          <h2 id={id}>{props.title}</h2>
          <Button
            kind="bare"
            size="small"
            icon="close"
            label={text.states.close}
            onClick={() => dialog.current?.close()}
          />
        </div>
        <div class="dialog-body">{props.children}</div>
        {props.foot === undefined ? null : <div class="dialog-foot">{props.foot}</div>}
      </form>
    </dialog>
  );
}

/** A question before something that cannot be undone. */
export function Confirm(props: {
  title: string;
  children: ComponentChildren;
  action: string;
  /** What the button says that only closes. */
  dismiss?: string;
  isBusy?: boolean;
  isDisabled?: boolean;
  onConfirm: () => void;
  onClose: () => void;
}) {
  return (
    <Dialog
      title={props.title}
      onClose={props.onClose}
      onSubmit={props.onConfirm}
      foot={
        <DialogButtons
          submit={props.action}
          dismiss={props.dismiss}
          onClose={props.onClose}
          isBusy={props.isBusy}
          isDisabled={props.isDisabled}
          kind="danger"
        />
      }
    >
      {props.children}
    </Dialog>
  );
}

/** The buttons of a dialog with a form: one closes it, the other submits the form. */
export function DialogButtons(props: {
  /** The text of the button that submits. */
  submit: string;
  /** What the button says that only closes. */
  dismiss?: string;
  onClose: () => void;
  kind?: "primary" | "danger";
  isBusy?: boolean;
  isDisabled?: boolean;
}) {
  const { submit, dismiss, onClose, kind = "primary", isBusy, isDisabled } = props;
  return (
    <>
      <Button onClick={onClose}>{dismiss ?? text.states.cancel}</Button>
      <Button kind={kind} isSubmit isBusy={isBusy} isDisabled={isDisabled}>
        {submit}
      </Button>
    </>
  );
}
