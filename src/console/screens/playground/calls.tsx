import { useState } from "preact/hooks";
import type { ToolCall, ToolTurn } from "../../conversation/conversation.ts";
import { Button } from "../../parts/controls/button.tsx";
import { TextArea } from "../../parts/controls/field.tsx";
import { text } from "../../text/text.ts";
import { sendResults } from "./state.ts";

const words = text.playground;

/** The calls of an answer. While they are open, their results are entered here. */
export function Calls({
  laneId,
  calls,
  isOpen,
}: {
  laneId: number;
  calls: readonly ToolCall[];
  isOpen: boolean;
}) {
  const [results, setResults] = useState<Readonly<Record<string, string>>>({});
  const submit = (event: Event) => {
    event.preventDefault();
    sendResults(
      laneId,
      calls.map(({ id, name }) => ({ callId: id, name, text: results[id] ?? "" })),
    );
  };
  return (
    <form class="calls" onSubmit={submit}>
      {calls.map((call) => (
        <div class="call" key={call.id}>
          <div class="call-head">
            <code class="strong">{call.name}</code>
            <span class="faint mono cut">{call.id}</span>
          </div>
          <pre class="call-arguments" tabIndex={0}>
            {formatJson(call.arguments)}
          </pre>
          {isOpen ? (
            <CallResult
              call={call}
              value={results[call.id] ?? ""}
              onInput={(value) => setResults({ ...results, [call.id]: value })}
            />
          ) : null}
        </div>
      ))}
      {isOpen ? (
        <div class="row">
          <Button kind="primary" isSubmit>
            {words.sendResults}
          </Button>
        </div>
      ) : null}
    </form>
  );
}

function CallResult(props: { call: ToolCall; value: string; onInput: (value: string) => void }) {
  return (
    <div class="call-result">
      <TextArea label={words.result(props.call.name)} rows={2} value={props.value} onInput={props.onInput} />
      <Button size="small" onClick={() => props.onInput(props.call.arguments || "{}")}>
        {words.echo}
      </Button>
    </div>
  );
}

/** The results that were sent for the calls of an answer. */
export function CallResults({ turn }: { turn: ToolTurn }) {
  return (
    <article class="turn tool" aria-label={words.roles.tool}>
      {turn.results.map(({ callId, name, text: result }) => (
        <div class="call" key={callId}>
          <div class="call-head">
            <span class="quiet">{words.result(name || callId)}</span>
          </div>
          <pre class="call-arguments" tabIndex={0}>
            {formatJson(result)}
          </pre>
        </div>
      ))}
    </article>
  );
}

/** Returns JSON with line breaks; other texts as they are. */
function formatJson(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
