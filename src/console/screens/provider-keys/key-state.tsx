import type { ProviderKey } from "../../api/schema.ts";
import { Badge } from "../../parts/values/badge.tsx";
import { text } from "../../text/text.ts";

/** How a provider key does: it cannot be read, is disabled, failed at its last use, or is in use. */
export function KeyState({ readable, enabled, last_error }: ProviderKey) {
  const { states, unreadableAbout } = text.providerKeys;
  if (!readable)
    return (
      <span title={unreadableAbout}>
        <Badge tone="bad">{states.unreadable}</Badge>
      </span>
    );
  if (!enabled) return <Badge>{states.disabled}</Badge>;
  if (last_error !== null)
    return (
      <span title={last_error.message}>
        <Badge tone="warn">{states.failed}</Badge>
      </span>
    );
  return <Badge tone="good">{states.enabled}</Badge>;
}
