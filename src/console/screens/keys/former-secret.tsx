import type { Key } from "../../api/schema.ts";
import { formatMinute } from "../../parts/values/format.ts";
import { Icon } from "../../parts/values/icon.tsx";
import { Hour } from "../../parts/values/values.tsx";
import { text } from "../../text/text.ts";
import { hasFormer } from "./rotate-key.tsx";

const words = text.keys;

/** The secret before the last rotation while it is valid, and whether something still uses it. Nothing without one. */
export function FormerSecret({ of: key }: { of: Key }) {
  const { previous_hint: hint, previous_until: until, previous_used_at: used } = key;
  if (!hasFormer(key) || until === null) return null;
  return (
    <div class="note" role="note">
      <Icon name={used === null ? "key" : "alert"} />
      <div class="grow">
        <p>
          {words.formerSecret} <code>{hint}</code> {words.formerValid} {formatMinute(Date.parse(until))}.{" "}
          {used === null ? (
            words.formerUnused
          ) : (
            <span class="warn">
              {words.formerUsed} <Hour from={used} />.
            </span>
          )}
        </p>
        {used === null ? null : <p class="quiet">{words.formerUsedAbout}</p>}
      </div>
    </div>
  );
}
