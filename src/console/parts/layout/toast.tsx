import { signal } from "@preact/signals";
import { toApiError } from "../../state/load.ts";
import { isSignInAgain, signInAgain } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { Button } from "../controls/button.tsx";
import { Icon } from "../values/icon.tsx";

interface Toast {
  readonly id: number;
  readonly message: string;
  readonly isError: boolean;
  /** Whether a button begins a new sign-in. */
  readonly asksForSignIn: boolean;
}

/** How long a message is shown, and the maximum number of messages. */
const SHOWN_MS = 6_000;
/** How long one is shown that asks for a new sign-in. */
const QUESTION_MS = 60_000;
const MAX_TOASTS = 3;

const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

/** Shows a message for some seconds. */
export function showToast(message: string, { isError = false, asksForSignIn = false } = {}): void {
  lastId += 1;
  const id = lastId;
  toasts.value = [...toasts.value, { id, message, isError, asksForSignIn }].slice(-MAX_TOASTS);
  setTimeout(
    () => {
      toasts.value = toasts.value.filter((toast) => toast.id !== id);
    },
    asksForSignIn ? QUESTION_MS : SHOWN_MS,
  );
}

/** Shows why something failed. If it needs a recent sign-in, the message has a button that begins one. */
export function showFailure(failure: unknown): void {
  const error = toApiError(failure);
  showToast(error.message, { isError: true, asksForSignIn: isSignInAgain(error) });
}

/** The messages that are shown now. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, message, isError, asksForSignIn }) => (
        <div key={id} class="toast">
          <span class={isError ? "bad" : "good"}>
            <Icon name={isError ? "alert" : "check"} />
          </span>
          {message}
          {asksForSignIn ? (
            <Button size="small" onClick={signInAgain}>
              {text.signIn.again}
            </Button>
          ) : null}
        </div>
      ))}
    </div>
  );
}
