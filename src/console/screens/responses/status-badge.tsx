import type { KeptResponse } from "../../api/schema.ts";
import { Badge, type Tone } from "../../parts/values/badge.tsx";
import { Icon, type IconName } from "../../parts/values/icon.tsx";
import { text } from "../../text/text.ts";

/** How far a response is. */
export type Status = KeptResponse["status"];

const LOOKS: Readonly<Record<Status, readonly [Tone, IconName]>> = {
  queued: ["accent", "pause"],
  in_progress: ["accent", "more"],
  completed: ["good", "check"],
  incomplete: ["warn", "alert"],
  failed: ["bad", "close"],
  cancelled: ["warn", "pause"],
};

/** The status of a response as a badge. */
export function StatusBadge({ status }: { status: Status }) {
  const [tone, icon] = LOOKS[status];
  return (
    <Badge tone={tone}>
      <Icon name={icon} size={12} />
      {text.responses.statuses[status]}
    </Badge>
  );
}

/** Whether a response with this status still runs. */
export function isRunning(status: Status): boolean {
  return status === "queued" || status === "in_progress";
}
