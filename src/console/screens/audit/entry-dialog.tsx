import type { AuditEntry } from "../../api/schema.ts";
import { Dialog } from "../../parts/layout/dialog.tsx";
import { Code, Id, Time } from "../../parts/values/values.tsx";
import { text } from "../../text/text.ts";
import { Resource, Sentence, Who } from "./audit-table.tsx";

const { facts } = text.audit;

/** All of an entry of the audit log. */
export function EntryDialog({ entry, onClose }: { entry: AuditEntry; onClose: () => void }) {
  const { place, at, key_id, user_id, action, account_id, target, request_id } = entry;
  return (
    <Dialog title={text.audit.detailTitle(String(place))} isWide onClose={onClose}>
      <p>
        <Sentence entry={entry} />.
      </p>
      <dl class="facts">
        <dt>{facts.at}</dt>
        <dd>
          <Time at={at} /> <span class="faint">{at}</span>
        </dd>
        <dt>{facts.user}</dt>
        <dd>
          <Who entry={entry} /> {user_id === null ? null : <Id id={user_id} />}
        </dd>
        <dt>{facts.key}</dt>
        <dd>{key_id === null ? "–" : <Id id={key_id} />}</dd>
        <dt>{facts.action}</dt>
        <dd>
          <code>{action}</code>
        </dd>
        <dt>{facts.target}</dt>
        <dd>
          <Resource id={target} none="–" />
        </dd>
        <dt>{facts.account}</dt>
        <dd>
          <Resource id={account_id} none={text.audit.whole} />
        </dd>
        <dt>{facts.request}</dt>
        <dd>{request_id === null ? "–" : <Id id={request_id} />}</dd>
        <dt>{facts.hash}</dt>
        <dd>
          <code>{entry.hash}</code>
        </dd>
        <dt>{facts.previous}</dt>
        <dd>
          <code>{entry.previous_hash}</code>
        </dd>
      </dl>
      <Code value={JSON.stringify(entry.changes, null, 2)} label={text.audit.changes} />
    </Dialog>
  );
}
