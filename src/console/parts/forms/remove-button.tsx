import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../controls/button.tsx";
import { Confirm } from "../layout/dialog.tsx";
import { showFailure, showToast } from "../layout/toast.tsx";

/** A button that removes something after a question. */
export function RemoveButton(props: {
  label: string;
  /** The question. */
  title: string;
  /** What follows from it. */
  children: ComponentChildren;
  remove: () => Promise<unknown>;
  /** What the toast says when it is done. */
  done: string;
  onRemoved: () => void;
}) {
  const [isAsking, setAsking] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const remove = () => {
    setBusy(true);
    props.remove().then(
      () => {
        showToast(props.done);
        props.onRemoved();
      },
      (failure: unknown) => {
        showFailure(failure);
        setBusy(false);
        setAsking(false);
      },
    );
  };
  return (
    <>
      <Button kind="danger" onClick={() => setAsking(true)}>
        {props.label}
      </Button>
      {isAsking ? (
        <Confirm
          title={props.title}
          action={props.label}
          isBusy={isBusy}
          onConfirm={remove}
          onClose={() => setAsking(false)}
        >
          <p>{props.children}</p>
        </Confirm>
      ) : null}
    </>
  );
}
