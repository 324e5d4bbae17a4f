import { useEffect } from "preact/hooks";
import { atBase } from "../../api/base.ts";
import { type ApiError, call } from "../../api/client.ts";
import type { GenerationDetails } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Crumbs } from "../../parts/layout/crumbs.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { Figure } from "../../parts/layout/section.tsx";
import { Empty, ErrorBox, Skeleton } from "../../parts/layout/states.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { OutcomeBadge } from "../../parts/values/badge.tsx";
import { formatDuration, formatSpeed } from "../../parts/values/format.ts";
import { Icon } from "../../parts/values/icon.tsx";
import { Copy, copyText, Id, Money } from "../../parts/values/values.tsx";
import { useLoad } from "../../state/load.ts";
import { navigate, query, setQuery } from "../../state/location.ts";
import type { ScreenProps } from "../../state/screen.ts";
import { can, isOperator, session } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { RejectedRequest } from "../rejection/rejected-request.tsx";
import { Bodies } from "./bodies.tsx";
import { Changes } from "./changes.tsx";
import { Cost } from "./cost.tsx";
import { printCurl } from "./print-curl.ts";
import { Refund } from "./refund.tsx";
import { Story } from "./story.tsx";
import { Way } from "./way.tsx";
import { Who } from "./who.tsx";
import { Why } from "./why.tsx";

const words = text.request;
/** How often a request that runs is read again. Milliseconds. */
const REFRESH_MS = 1_000;

/** One request: its answer, its time, its route with the reasons, and its cost. */
export default function Request({ params }: ScreenProps) {
  const id = params["id"] ?? "";
  const { data, error, reload } = useLoad(id, (signal) =>
    call("GET /api/admin/generations/{id}", { params: { id }, signal }),
  );
  const generation = data?.data ?? null;
  const isRunning = generation?.outcome === "open";
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, [isRunning, reload]);
  // The address of a request id leads to the page of its generation.
  const found = generation?.id;
  useEffect(() => {
    if (found !== undefined && found !== id) navigate(`/console/requests/${found}`, { replaces: true });
  }, [found, id]);
  // A rejected request has no generation.
  const rejected = error?.metadata["rejection"];
  if (typeof rejected === "string") return <RejectedRequest id={rejected} heading={<Heading id={id} />} />;
  if (generation === null)
    return (
      <Page title={words.title} heading={<Heading />}>
        {error === null ? <Skeleton lines={8} /> : <Failure error={error} onRetry={reload} />}
      </Page>
    );
  return <Loaded generation={generation} onChanged={reload} />;
}

function Failure({ error, onRetry }: { error: ApiError; onRetry: () => void }) {
  if (error.status !== 404 && error.status !== 400) return <ErrorBox error={error} onRetry={onRetry} />;
  return (
    <Empty title={words.notFound}>
      <p>{words.notFoundAbout}</p>
      <a class="button" href="/console/requests">
        {text.requests.title}
      </a>
    </Empty>
  );
}

function Heading({ id }: { id?: string }) {
  return (
    <Crumbs
      list={{ title: text.requests.title, address: "/console/requests" }}
      title={id === undefined ? words.title : <Id id={id} />}
    />
  );
}

function Loaded({ generation, onChanged }: { generation: GenerationDetails; onChanged: () => void }) {
  const { id, requested_model, model, provider_name, outcome } = generation;
  return (
    <Page
      title={model ?? requested_model}
      heading={<Heading id={id} />}
      actions={<Actions generation={generation} onChanged={onChanged} />}
    >
      <div class="request">
        <div class="request-head">
          <div class="row wrap">
            <span class="request-model">{model ?? requested_model}</span>
            <OutcomeBadge outcome={outcome} />
          </div>
          <p class="quiet">
            {model !== null && model !== requested_model ? `${text.requests.asked(requested_model)} · ` : ""}
            {provider_name ?? (outcome === "cached" ? words.cachedAnswer : words.noProvider)} ·{" "}
            {generation.api}
            {generation.streamed ? ` · ${words.streamed}` : ""}
            {generation.error_type === null ? null : (
              <span class="bad">
                {" · "}
                {generation.status} {generation.error_type}
              </span>
            )}
          </p>
        </div>
        <Figures generation={generation} />
        <Story generation={generation} />
        <Way generation={generation} />
        <Why generation={generation} />
        <Cost generation={generation} />
        <Changes generation={generation} />
        <Who generation={generation} />
        <Bodies key={id} generation={generation} />
      </div>
    </Page>
  );
}

function Figures({ generation }: { generation: GenerationDetails }) {
  const { latency, duration, generation_time, tokens_completion, tokens_prompt, total_cost_nanodollars } =
    generation;
  return (
    <dl class="figures">
      <Figure name={words.cost}>
        <Money nanodollars={total_cost_nanodollars} />
      </Figure>
      <Figure name={words.firstToken}>{formatDuration(latency)}</Figure>
      <Figure name={words.total}>{formatDuration(duration)}</Figure>
      <Figure name={words.speed}>{formatSpeed(tokens_completion, generation_time)}</Figure>
      <Figure name={words.tokens}>
        {tokens_prompt.toLocaleString("en-US")} → {tokens_completion.toLocaleString("en-US")}
      </Figure>
    </dl>
  );
}

/** The APIs of requests that the playground can open. */
const PLAYGROUND_APIS = new Set(["chat.completions", "responses", "messages"]);

function Actions({ generation, onChanged }: { generation: GenerationDetails; onChanged: () => void }) {
  // In the address, so that the form is open again after a sign-in.
  const isRefunding = query.value["refund"] === "1";
  const setRefunding = (isOpen: boolean) => setQuery({ refund: isOpen ? "1" : null });
  const canRefund = isOperator.value && generation.total_cost_nanodollars > 0 && generation.account !== null;
  const copyCurl = async () => {
    await copyText(printCurl(generation, session.value?.base_url ?? window.location.origin));
    showToast(words.curlCopied);
  };
  return (
    <>
      <span class="action">
        {words.link}{" "}
        <Copy
          value={`${window.location.origin}${atBase("/console/requests")}/${generation.id}`}
          label={words.copyLink}
        />
      </span>
      <Button icon="terminal" onClick={copyCurl}>
        {words.curl}
      </Button>
      {PLAYGROUND_APIS.has(generation.api) && can("call") ? (
        <a class="button" href={`/console/playground?from=${generation.id}`}>
          <Icon name="chat" />
          {text.playground.openHere}
        </a>
      ) : null}
      {canRefund ? (
        <Button icon="undo" onClick={() => setRefunding(true)}>
          {words.refund}
        </Button>
      ) : null}
      {isRefunding && canRefund ? (
        <Refund generation={generation} onClose={() => setRefunding(false)} onDone={onChanged} />
      ) : null}
    </>
  );
}
