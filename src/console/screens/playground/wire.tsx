import { useState } from "preact/hooks";
import { CODE_CLIENTS, type CodeClient, printCode } from "../../conversation/print-code.ts";
import { API_PATHS, printRequest } from "../../conversation/print-request.ts";
import { Segments } from "../../parts/controls/segments.tsx";
import { Code } from "../../parts/values/values.tsx";
import { session } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import type { Run } from "./send.ts";
import { api, conversationOf, type Lane, lanes, lastRun, wireLane } from "./state.ts";

const words = text.playground;
const TABS = Object.entries(words.wireTabs).map(([value, label]) => ({
  value: value as keyof typeof words.wireTabs,
  label,
}));

/** The column with the request and the events as sent, and code for the same request. */
export function WirePane() {
  const [tab, setTab] = useState<keyof typeof words.wireTabs>("request");
  const lane = lanes.value.find(({ id }) => id === wireLane.value) ?? lanes.value[0];
  if (lane === undefined) return null;
  const run = lastRun(lane);
  return (
    <div class="pane-body wire">
      <Segments label={words.wireTab} value={tab} choices={TABS} onChange={setTab} />
      <LaneChoice lane={lane} />
      {tab === "code" ? <CodeTab lane={lane} /> : tab === "events" ? <Events run={run} /> : null}
      {tab === "request" ? <RequestTab lane={lane} run={run} /> : null}
    </div>
  );
}

function LaneChoice({ lane }: { lane: Lane }) {
  if (lanes.value.length === 1) return null;
  return (
    <div class="field">
      <select
        class="select"
        aria-label={words.wireModel}
        value={String(lane.id)}
        onChange={(event) => {
          wireLane.value = Number(event.currentTarget.value);
        }}
      >
        {lanes.value.map(({ id, model }) => (
          <option key={id} value={String(id)}>
            {model}
          </option>
        ))}
      </select>
    </div>
  );
}

function RequestTab({ lane, run }: { lane: Lane; run: Run | null }) {
  const isSent = run !== null;
  const body = isSent
    ? run.wire.body
    : JSON.stringify(printRequest(api.value, lane.model, conversationOf(lane)));
  const path = isSent ? run.wire.path : API_PATHS[api.value];
  return (
    <>
      <h3>{isSent ? words.wireSent : words.wireNext}</h3>
      <Code label={words.wireTabs.request} value={`POST ${path}\n\n${shorten(body)}`} />
      {isSent && run.wire.status !== null ? <Response run={run} /> : null}
      <p class="quiet">{words.wireKey}</p>
    </>
  );
}

function Response({ run }: { run: Run }) {
  const { status, headers } = run.wire;
  const lines = [`HTTP ${status}`, ...headers.map(([name, value]) => `${name}: ${value}`)];
  return (
    <>
      <h3>{words.wireResponse}</h3>
      <Code label={words.wireResponse} value={lines.join("\n")} />
    </>
  );
}

/** Values longer than this are cut in the request that is shown, because they are images. */
const MAX_SHOWN = 2_000;

/** Returns a JSON text with line breaks, and with long values cut. */
function shorten(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), (_, value: unknown) => cutText(value), 2);
  } catch {
    return json;
  }
}

function cutText(value: unknown): unknown {
  if (typeof value !== "string" || value.length <= MAX_SHOWN || !value.startsWith("data:")) return value;
  return `${value.slice(0, 60)}… (${value.length})`;
}

function Events({ run }: { run: Run | null }) {
  if (run === null) return <p class="quiet">{words.wireNone}</p>;
  const { events, dropped } = run.wire;
  return (
    <>
      <h3>{words.wireEvents(events.length + dropped)}</h3>
      <Code label={words.wireTabs.events} value={events.join("\n\n")} />
      {dropped === 0 ? null : <p class="quiet">{words.wireDropped(dropped)}</p>}
    </>
  );
}

function CodeTab({ lane }: { lane: Lane }) {
  const [client, setClient] = useState<CodeClient>("curl");
  const baseUrl = session.value?.base_url ?? window.location.origin;
  const code = printCode(client, {
    api: api.value,
    model: lane.model,
    conversation: codeConversation(lane),
    baseUrl,
  });
  return (
    <>
      <Segments label={words.code} value={client} choices={CODE_CLIENTS} onChange={setClient} />
      <Code label={words.copyCode} value={code} />
    </>
  );
}

/** The conversation that code is printed for: without the last answer, which the code asks for. */
function codeConversation(lane: Lane) {
  const conversation = conversationOf(lane);
  const { turns } = conversation;
  return { ...conversation, turns: turns.at(-1)?.role === "assistant" ? turns.slice(0, -1) : turns };
}
