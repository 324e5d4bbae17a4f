import { call } from "../../api/client.ts";
import { Button } from "../../parts/controls/button.tsx";
import { ErrorBox } from "../../parts/layout/states.tsx";
import { formatCount } from "../../parts/values/format.ts";
import { Icon } from "../../parts/values/icon.tsx";
import { Copy } from "../../parts/values/values.tsx";
import { useLoad } from "../../state/load.ts";
import { text } from "../../text/text.ts";

const words = text.audit.check;

/** Whether the hash chain of the audit log is intact, as a green or a red line. */
export function AuditCheck() {
  const { data, error, isLoading, reload } = useLoad("verify", async (signal) => {
    return (await call("GET /api/admin/audit/verify", { signal })).data;
  });
  if (error !== null) return <ErrorBox error={error} onRetry={reload} />;
  if (data === null)
    return (
      <p class="check-line quiet" role="status">
        {words.running}
      </p>
    );
  const { holds, entries, broken_at, problem, last_hash } = data;
  return (
    <div class={holds ? "check-line good" : "check-line bad"} role="status">
      <Icon name={holds ? "check" : "alert"} />
      <span class="breaks">
        {holds
          ? words.good(formatCount(entries))
          : words.bad(broken_at === null ? "–" : formatCount(broken_at), problem ?? "")}
      </span>
      <Button
        kind="bare"
        size="small"
        icon="refresh"
        label={words.again}
        isBusy={isLoading}
        onClick={reload}
      />
      <span class="grow" />
      <span class="id quiet" title={last_hash}>
        {words.hash} {last_hash.slice(0, 12)}…
        <Copy value={last_hash} />
      </span>
    </div>
  );
}
