import type { ConfigChange } from "../../api/schema.ts";
import { text } from "../../text/text.ts";

/** How settings change: each with its value before and after. Secrets are masked by the API. */
export function Changes({ changes }: { changes: readonly ConfigChange[] }) {
  if (changes.length === 0) return <p class="quiet">{text.config.noChanges}</p>;
  return (
    <ul class="config-changes">
      {changes.map(({ name, before, after, needs_restart }) => (
        <li key={name}>
          <code class="strong">{name}</code>
          <div class="config-change">
            <del>{printValue(before)}</del> → <ins>{printValue(after)}</ins>
          </div>
          {needs_restart ? <p class="quiet">{text.config.needsRestart}</p> : null}
        </li>
      ))}
    </ul>
  );
}

function printValue(value: unknown): string {
  if (value === null || value === undefined) return text.config.none;
  return typeof value === "string" ? value : JSON.stringify(value);
}
