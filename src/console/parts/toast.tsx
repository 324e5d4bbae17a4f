import { signal } from "@preact/signals";
import { Icon } from "./icon.tsx";

interface Toast {
  readonly id: number;
  readonly message: string;
  readonly isError: boolean;
}

/** How long a message is shown, and how many at once. */
const SHOWN_MS = 6_000;
const MOST = 3;

const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

/** Shows a message for some seconds. */
export function showToast(message: string, { isError = false } = {}): void {
  lastId += 1;
  const id = lastId;
  toasts.value = [...toasts.value, { id, message, isError }].slice(-MOST);
  setTimeout(() => {
    toasts.value = toasts.value.filter((toast) => toast.id !== id);
  }, SHOWN_MS);
}

/** The messages that are shown now. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, message, isError }) => (
        <div key={id} class="toast">
          <span class={isError ? "bad" : "good"}>
            <Icon name={isError ? "alert" : "check"} />
          </span>
          {message}
        </div>
      ))}
    </div>
  );
}
