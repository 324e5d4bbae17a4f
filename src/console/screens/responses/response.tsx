import { useComputed } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type ApiError, call } from "../../api/client.ts";
import type { KeptResponseDetails } from "../../api/schema.ts";
import { Crumbs } from "../../parts/layout/crumbs.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { Figure } from "../../parts/layout/section.tsx";
import { Empty, ErrorBox, Skeleton } from "../../parts/layout/states.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import { formatAge, formatBytes, formatCount, formatDuration } from "../../parts/values/format.ts";
import { Id, Money, Time } from "../../parts/values/values.tsx";
import { useLoad } from "../../state/load.ts";
import { navigate } from "../../state/location.ts";
import { now } from "../../state/now.ts";
import type { ScreenProps } from "../../state/screen.ts";
import { text } from "../../text/text.ts";
import { Chain } from "./chain.tsx";
import { Contents } from "./contents.tsx";
import { ResponseActions } from "./response-actions.tsx";
import { ResponseFacts } from "./response-facts.tsx";
import { pathOfResponse } from "./response-list.tsx";
import { isRunning, StatusBadge } from "./status-badge.tsx";

const words = text.responses;
/** How often a response that runs is read again. Milliseconds. */
const REFRESH_MS = 1_000;

/** A response that the gateway keeps: its status, cost, size and chain. The address of a conversation shows its newest response. */
export default function Response({ params }: ScreenProps) {
  const id = params["id"] ?? "";
  const { data, error, reload } = useLoad(id, async (signal) => {
    return (await call("GET /api/admin/responses/{id}", { params: { id }, signal })).data;
  });
  const isLive = data !== null && isRunning(data.status);
  useEffect(() => {
    if (!isLive) return;
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, [isLive, reload]);
  const found = data?.id;
  useEffect(() => {
    if (found !== undefined && id.startsWith("conv_")) navigate(pathOfResponse(found), { replaces: true });
  }, [found, id]);
  if (data === null)
    return (
      <Page title={words.one} heading={<Heading account={null} id={null} />}>
        {error === null ? <Skeleton lines={8} /> : <Failure error={error} onRetry={reload} />}
      </Page>
    );
  return <Loaded of={data} error={error} onChanged={reload} />;
}

function Failure({ error, onRetry }: { error: ApiError; onRetry: () => void }) {
  if (error.status !== 404 && error.status !== 400) return <ErrorBox error={error} onRetry={onRetry} />;
  return (
    <Empty title={words.notFound}>
      <p>{words.notFoundAbout}</p>
      <a class="button" href="/console/responses">
        {words.all}
      </a>
    </Empty>
  );
}

function Heading({ account, id }: { account: string | null; id: string | null }) {
  const address = account === null ? "/console/responses" : `/console/responses?account_id=${account}`;
  return <Crumbs list={{ title: words.title, address }} title={id === null ? words.one : <Id id={id} />} />;
}

interface LoadedProps {
  readonly of: KeptResponseDetails;
  /** Why it could not be read again; null if it could. */
  readonly error: ApiError | null;
  readonly onChanged: () => void;
}

function Loaded({ of: response, error, onChanged }: LoadedProps) {
  const { id, account_id, kind, model, status, background } = response;
  const title = model ?? words.items;
  return (
    <Page
      title={title}
      heading={<Heading account={account_id} id={id} />}
      actions={
        <>
          {kind === "response" ? (
            <a class="button" href={`/console/requests/${id}`}>
              {words.request}
            </a>
          ) : null}
          <ResponseActions key={id} of={response} onChanged={onChanged} />
        </>
      }
    >
      <div class="request">
        {error === null ? null : <ErrorBox error={error} onRetry={onChanged} />}
        <div class="row wrap">
          <span class="request-model">{title}</span>
          {kind === "response" ? (
            <span class="row" aria-live="polite">
              <StatusBadge status={status} />
            </span>
          ) : null}
          {background ? <Badge>{words.background}</Badge> : null}
          {isRunning(status) && response.is_cancel_requested ? (
            <Badge tone="warn">{words.asked}</Badge>
          ) : null}
        </div>
        <Figures of={response} />
        <Chain of={response} />
        <ResponseFacts of={response} />
        <Contents key={id} of={response} />
      </div>
    </Page>
  );
}

function Figures({
  of: { generation, bytes, created_at, ended_at, expires_at, kind },
}: Pick<LoadedProps, "of">) {
  const duration = ended_at === null ? null : Date.parse(ended_at) - Date.parse(created_at);
  return (
    <dl class="figures">
      {kind === "items" ? null : (
        <>
          <Figure name={words.cost}>
            {generation === null ? words.notKnown : <Money nanodollars={generation.total_cost_nanodollars} />}
          </Figure>
          <Figure name={words.tokens}>
            {generation === null
              ? words.notKnown
              : `${formatCount(generation.tokens_prompt)} → ${formatCount(generation.tokens_completion)}`}
          </Figure>
          <Figure name={duration === null ? words.elapsed : words.duration}>
            {duration === null ? <Elapsed since={created_at} /> : formatDuration(duration)}
          </Figure>
        </>
      )}
      <Figure name={words.size}>{formatBytes(bytes)}</Figure>
      <Figure name={words.expires}>
        <Time at={expires_at} />
      </Figure>
    </dl>
  );
}

/** How long a response has run, which moves every second. */
function Elapsed({ since }: { since: string }) {
  const ms = Date.parse(since);
  const elapsed = useComputed(() => formatAge(Math.max(1_000, now.value - ms)) ?? "");
  return <span>{elapsed}</span>;
}
