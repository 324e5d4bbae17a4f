import type { ChainEntry, KeptResponseDetails } from "../../api/schema.ts";
import { Section } from "../../parts/layout/section.tsx";
import { formatBytes, formatCount, formatDuration } from "../../parts/values/format.ts";
import { Time } from "../../parts/values/values.tsx";
import { text } from "../../text/text.ts";
import { pathOfResponse } from "./response-list.tsx";
import { StatusBadge } from "./status-badge.tsx";

const words = text.responses;

/** A turn of a chain, and what it continues if that is not the turn above it. */
interface Turn {
  readonly entry: ChainEntry;
  readonly note: string | null;
}

/** The chain of a response as a list of turns. The current turn is marked. A chain may branch. */
export function Chain({ of: response }: { of: KeptResponseDetails }) {
  const { id, chain, is_truncated, chain_bytes } = response;
  const isListed = chain.some((entry) => entry.id === id);
  const turns = listTurns(isListed ? chain : [...chain, response], is_truncated);
  return (
    <Section
      id="chain"
      title={response.conversation === null ? words.chain : words.conversation}
      summary={words.turns(
        `${formatCount(chain.length)}${is_truncated ? "+" : ""}`,
        formatBytes(chain_bytes),
      )}
    >
      <ol class="chain">
        {turns.map((turn) => (
          <TurnLine key={turn.entry.id} turn={turn} isCurrent={turn.entry.id === id} />
        ))}
      </ol>
      {is_truncated ? <p class="quiet">{words.truncated}</p> : null}
    </Section>
  );
}

function listTurns(chain: readonly ChainEntry[], isTruncated: boolean): readonly Turn[] {
  const numbers = new Map(chain.map(({ id, sequence }) => [id, sequence + 1]));
  return chain.map((entry, at) => {
    const { previous_id } = entry;
    if (previous_id === null || previous_id === chain[at - 1]?.id) return { entry, note: null };
    const number = numbers.get(previous_id);
    return { entry, note: nameNote(number, isTruncated) };
  });
}

function nameNote(number: number | undefined, isTruncated: boolean): string | null {
  if (number !== undefined) return words.branches(formatCount(number));
  return isTruncated ? null : words.afterMissing;
}

function TurnLine({ turn: { entry, note }, isCurrent }: { turn: Turn; isCurrent: boolean }) {
  const { id, status, model, background, sequence, bytes, created_at, ended_at } = entry;
  const duration = ended_at === null ? null : Date.parse(ended_at) - Date.parse(created_at);
  const number = words.turn(formatCount(sequence + 1));
  return (
    <li class={isCurrent ? "chain-turn current" : "chain-turn"} aria-current={isCurrent ? "true" : undefined}>
      <div class="chain-line">
        <span class="chain-number">{isCurrent ? number : <a href={pathOfResponse(id)}>{number}</a>}</span>
        <span class="chain-model grow">{model ?? <span class="quiet">{words.items}</span>}</span>
        {isCurrent ? <span class="quiet">{words.current}</span> : null}
        {entry.kind === "items" ? null : <StatusBadge status={status} />}
      </div>
      <p class="chain-facts">
        <Time at={created_at} />
        {` · ${formatBytes(bytes)}`}
        {entry.kind === "items" || duration === null ? "" : ` · ${formatDuration(duration)}`}
        {background ? ` · ${words.background}` : ""}
        {note === null ? "" : ` · ${note}`}
      </p>
    </li>
  );
}
