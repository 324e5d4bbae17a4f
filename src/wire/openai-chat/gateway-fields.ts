/** Request fields that are meant for the gateway; no upstream gets them. */
export const GATEWAY_FIELDS: ReadonlySet<string> = new Set(["models", "provider", "session_id", "usage"]);
