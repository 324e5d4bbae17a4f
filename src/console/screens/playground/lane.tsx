import { useEffect, useRef, useState } from "preact/hooks";
import { type AssistantTurn, openCalls, type Turn } from "../../conversation/conversation.ts";
import { Empty } from "../../parts/layout/states.tsx";
import { text } from "../../text/text.ts";
import { CallResults, Calls } from "./calls.tsx";
import { Markdown } from "./markdown.tsx";
import { RunError, RunFoot } from "./run-foot.tsx";
import { conversationOf, type Entry, isRunning, type Lane, running, SANDBOX } from "./state.ts";
import { TurnActions, TurnEditor } from "./turn-actions.tsx";

const words = text.playground;
/** A lane follows the newest text while its end is at most this far below the view. CSS pixels. */
const NEAR_END = 80;

/** The conversation with one model. It follows the newest text unless it was scrolled up. */
export function LaneView({ lane, name }: { lane: Lane; name: string | null }) {
  const box = useRef<HTMLElement>(null);
  const follows = useRef(true);
  useEffect(() => {
    if (follows.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [lane.entries, running.value]);
  const isWaiting = running.value.has(lane.id) && lane.entries.at(-1)?.run?.status !== "running";
  return (
    <section
      class="lane"
      ref={box}
      tabIndex={0}
      aria-label={name ?? lane.model}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        follows.current = scrollHeight - scrollTop - clientHeight < NEAR_END;
      }}
    >
      {name === null ? null : (
        <h2 class="lane-name cut" title={lane.model}>
          {name}
        </h2>
      )}
      {lane.entries.length === 0 ? <Welcome lane={lane} /> : null}
      {lane.entries.map((entry, i) => (
        <EntryView key={i} entry={entry} lane={lane} isLast={i === lane.entries.length - 1} />
      ))}
      {isWaiting ? <Waiting /> : null}
    </section>
  );
}

function Welcome({ lane }: { lane: Lane }) {
  return (
    <Empty title={words.empty}>
      <p>{words.emptyAbout}</p>
      {lane.model === SANDBOX ? <p>{words.emptySandbox}</p> : null}
    </Empty>
  );
}

function Waiting() {
  return (
    <p class="quiet waiting" role="status">
      {words.waiting}
    </p>
  );
}

function EntryView({ entry, lane, isLast }: { entry: Entry; lane: Lane; isLast: boolean }) {
  const { turn } = entry;
  // Which turn is edited, and not whether one is: turns before this one may be deleted.
  const [edited, setEdited] = useState<Turn | null>(null);
  if (turn.role === "tool") return <CallResults turn={turn} />;
  if (edited === turn) return <TurnEditor turn={turn} onClose={() => setEdited(null)} />;
  const onEdit = () => setEdited(turn);
  if (turn.role === "assistant") return <Answer entry={entry} lane={lane} isLast={isLast} onEdit={onEdit} />;
  return (
    <div class="turn-line">
      <article class="turn user" aria-label={words.roles.user}>
        {turn.text === "" ? null : <p class="plain-text">{turn.text}</p>}
        <Images urls={turn.images} />
      </article>
      <TurnActions turn={turn} lastOf={null} onEdit={onEdit} />
    </div>
  );
}

function Answer(props: { entry: Entry; lane: Lane; isLast: boolean; onEdit: () => void }) {
  const { entry, lane, isLast } = props;
  const { turn, run } = entry;
  if (turn.role !== "assistant") return null;
  const hasBegun = turn.text !== "" || turn.reasoning !== "" || turn.calls.length > 0;
  const isOpen =
    isLast && turn.calls.length > 0 && !isRunning.value && openCalls(conversationOf(lane)).length > 0;
  return (
    <article
      class="turn assistant"
      aria-label={run?.model ?? lane.model}
      aria-busy={run?.status === "running"}
    >
      <Reasoning turn={turn} isRunning={run?.status === "running"} />
      {turn.text === "" ? null : <Markdown source={turn.text} />}
      <Images urls={run?.answer.images ?? []} />
      {turn.calls.length === 0 ? null : <Calls laneId={lane.id} calls={turn.calls} isOpen={isOpen} />}
      {run?.status === "running" && !hasBegun ? <Waiting /> : null}
      {run === null ? null : <RunError run={run} laneId={lane.id} isLast={isLast} />}
      {run === null || run.status === "running" ? null : <RunFoot run={run} />}
      <TurnActions turn={turn} lastOf={isLast ? lane.id : null} onEdit={props.onEdit} />
    </article>
  );
}

function Reasoning({ turn, isRunning }: { turn: AssistantTurn; isRunning: boolean }) {
  if (turn.reasoning === "") return null;
  return (
    <details class="reasoning" open={turn.text === "" && isRunning}>
      <summary>{words.reasoning(null)}</summary>
      <p class="plain-text">{turn.reasoning}</p>
    </details>
  );
}

/** Images of the conversation. Only `data:` images are shown: a page must not call other hosts for what a model wrote. */
function Images({ urls }: { urls: readonly string[] }) {
  if (urls.length === 0) return null;
  return (
    <div class="turn-images">
      {urls.map((url, i) =>
        url.startsWith("data:image/") ? (
          <img key={url} src={url} alt={words.image(i + 1)} />
        ) : (
          <code key={url}>{url}</code>
        ),
      )}
    </div>
  );
}
