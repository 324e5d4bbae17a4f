import type { Key } from "../../api/schema.ts";
import { meChanged } from "../../state/accounts/me.ts";
import { forgetOptions } from "../../state/names.ts";
import { KeyForm } from "./key-form.tsx";
import type { KeyOwner } from "./key-identity.tsx";
import { NewSecret } from "./new-secret.tsx";
import { RevokeKey } from "./revoke-key.tsx";
import { RotateKey } from "./rotate-key.tsx";

/** The dialog about keys that is open. */
export type KeyAction =
  | { readonly kind: "make" }
  | { readonly kind: "change" | "rotate" | "revoke"; readonly key: Key }
  | { readonly kind: "made" | "rotated"; readonly key: Key; readonly secret: string };

/** The dialog of an action; nothing for null. */
export function KeyDialog(props: {
  action: KeyAction | null;
  /** Whose a new key is. */
  owner: KeyOwner;
  onAction: (action: KeyAction | null) => void;
  onChanged: () => void;
}) {
  const { action, owner, onAction, onChanged } = props;
  const close = () => onAction(null);
  const changed = () => {
    forgetOptions("keys");
    meChanged();
    onChanged();
  };
  const saved = (key: Key, secret: string | null) => {
    changed();
    onAction(secret === null ? null : { kind: "made", key, secret });
  };
  const rotated = (key: Key, secret: string) => {
    changed();
    onAction({ kind: "rotated", key, secret });
  };
  if (action === null) return null;
  switch (action.kind) {
    case "make":
      return <KeyForm key="make" known={null} owner={owner} onClose={close} onSaved={saved} />;
    case "change":
      return <KeyForm key="change" known={action.key} owner={owner} onClose={close} onSaved={saved} />;
    case "rotate":
      return <RotateKey of={action.key} onClose={close} onRotated={rotated} />;
    case "revoke":
      return <RevokeKey of={action.key} onClose={close} onDone={changed} />;
    default:
      return (
        <NewSecret
          secret={action.secret}
          of={action.key}
          isRotated={action.kind === "rotated"}
          onClose={close}
        />
      );
  }
}
