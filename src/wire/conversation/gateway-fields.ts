/** Request fields that address the gateway itself. They are removed before a request goes to an upstream. */
export const GATEWAY_FIELDS: ReadonlySet<string> = new Set([
  "models",
  "preset",
  "provider",
  "session_id",
  "tags",
  "usage",
]);
