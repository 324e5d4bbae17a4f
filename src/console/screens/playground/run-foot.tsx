import type { ComponentChildren } from "preact";
import { Button } from "../../parts/controls/button.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import {
  formatCount,
  formatDuration,
  formatExactMoney,
  formatMoney,
  formatSpeed,
} from "../../parts/values/format.ts";
import { Icon } from "../../parts/values/icon.tsx";
import { text } from "../../text/text.ts";
import type { AnswerUsage } from "./read-usage.ts";
import { headerOf, type Run } from "./send.ts";
import { retry } from "./state.ts";

const words = text.playground;
const NANODOLLARS = 1_000_000_000;

/** Why a run has no whole answer, with a button to send it again. */
export function RunError({ run, laneId, isLast }: { run: Run; laneId: number; isLast: boolean }) {
  if (run.status === "stopped")
    return (
      <p>
        <Badge tone="warn">{words.stopped}</Badge>
      </p>
    );
  if (run.status !== "failed") return null;
  const requestId = headerOf(run, "x-request-id");
  return (
    <div class="error-box" role="alert">
      <Icon name="alert" />
      <div class="grow">
        <p>{run.error ?? words.failed}</p>
        {requestId === null ? null : (
          <p class="quiet">
            {text.states.requestId} <code>{requestId}</code>
          </p>
        )}
      </div>
      {isLast ? (
        <Button size="small" onClick={() => retry(laneId)}>
          {words.retry}
        </Button>
      ) : null}
    </div>
  );
}

/** What an answer took and cost, how it was routed, and how the request was changed. */
export function RunFoot({ run }: { run: Run }) {
  const { usage, finish } = run.answer;
  const route = headerOf(run, "x-gateway-route");
  const id = headerOf(run, "x-gateway-generation-id");
  const generated = run.firstTokenMs === null ? null : run.totalMs - run.firstTokenMs;
  return (
    <footer class="run-foot">
      <Changes run={run} />
      <dl>
        <Fact name={words.footer.ttft}>{formatDuration(run.firstTokenMs)}</Fact>
        <Fact name={words.footer.total}>{formatDuration(run.totalMs)}</Fact>
        {usage === null ? null : (
          <>
            <Fact name={words.footer.speed}>{formatSpeed(usage.completionTokens, generated)}</Fact>
            <Fact name={words.footer.tokens}>{printTokens(usage)}</Fact>
            {usage.cost === null ? null : <Cost dollars={usage.cost} isEstimated={usage.isEstimated} />}
          </>
        )}
        {finish === null ? null : <Fact name={words.footer.finish}>{finish}</Fact>}
        {route === null ? null : (
          <Fact name={words.footer.route}>
            <code>{route}</code>
          </Fact>
        )}
        {id === null ? null : (
          <Fact name={words.footer.request}>
            <a class="mono" href={`/console/requests/${id}`}>
              …{id.slice(-6)}
            </a>
          </Fact>
        )}
      </dl>
    </footer>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Cost({ dollars, isEstimated }: { dollars: number; isEstimated: boolean }) {
  const nanodollars = Math.round(dollars * NANODOLLARS);
  return (
    <Fact name={words.footer.cost}>
      <span title={formatExactMoney(nanodollars)}>
        {formatMoney(nanodollars)}
        {isEstimated ? ` (${words.estimated})` : ""}
      </span>
    </Fact>
  );
}

function printTokens({ promptTokens, completionTokens, cachedTokens, reasoningTokens }: AnswerUsage): string {
  return [
    words.tokens(formatCount(promptTokens), formatCount(completionTokens)),
    cachedTokens === 0 ? null : words.tokensCached(formatCount(cachedTokens)),
    reasoningTokens === 0 ? null : words.tokensReasoning(formatCount(reasoningTokens)),
  ]
    .filter((part) => part !== null)
    .join(", ");
}

function Changes({ run }: { run: Run }) {
  const { warnings, repairs } = run.answer;
  const repaired = Object.entries(repairs);
  if (warnings.length === 0 && repaired.length === 0) return null;
  return (
    <div class="note">
      <ul class="grow">
        {warnings.length === 0 ? null : <li class="strong">{words.warnings}</li>}
        {warnings.map(({ field, message }) => (
          <li key={field + message}>
            <code>{field}</code> {message}
          </li>
        ))}
        {repaired.length === 0 ? null : <li class="strong">{words.repairs}</li>}
        {repaired.map(([kind, count]) => (
          <li key={kind}>{words.repaired(kind, count)}</li>
        ))}
      </ul>
    </div>
  );
}
