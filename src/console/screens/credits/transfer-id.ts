/** Returns a new random id for a transfer. Pages without a secure context have no `crypto.randomUUID`. */
export function makeTransferId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
