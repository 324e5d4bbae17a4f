import { signal } from "@preact/signals";

/** The present time in milliseconds since the epoch, of the browser's clock. It moves once a second while the page is visible. */
export const now = signal(Date.now());

const TICK_MS = 1_000;

setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, TICK_MS);
