import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "../values/icon.tsx";

/** The look and the action of a button. */
interface ButtonProps {
  readonly children?: ComponentChildren;
  readonly onClick?: (event: MouseEvent) => void;
  readonly kind?: "plain" | "primary" | "danger" | "bare";
  readonly size?: "small";
  readonly icon?: IconName;
  /** The name of a button that shows only an icon. It is also its tooltip. */
  readonly label?: string;
  readonly isSubmit?: boolean;
  readonly isDisabled?: boolean;
  /** Whether its action is running: it cannot be pressed again. */
  readonly isBusy?: boolean;
  readonly isPressed?: boolean;
  readonly popover?: string;
}

/** A button with a text, an icon, or both. */
export function Button({ children, icon, label, kind = "plain", size, ...props }: ButtonProps) {
  const isBare = children === undefined;
  const classes = ["button", kind, size, isBare ? "icon" : null].filter(Boolean).join(" ");
  return (
    <button
      type={props.isSubmit ? "submit" : "button"}
      class={classes}
      onClick={props.onClick}
      disabled={props.isDisabled || props.isBusy}
      aria-busy={props.isBusy}
      aria-label={isBare ? label : undefined}
      aria-pressed={props.isPressed}
      title={label}
      popovertarget={props.popover}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      {children}
    </button>
  );
}
