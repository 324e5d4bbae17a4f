import type { Database } from "bun:sqlite";
import type { SeededRandom } from "../support/seeded-random.ts";
import type { SimulatedClient } from "./client.ts";

/** A row of a response object. */
export interface ObjectRow {
  readonly id: string;
  readonly status: string;
  readonly is_background: number;
  readonly account_id: string;
  readonly user_id: string | null;
  readonly key_id: string;
  readonly conversation_id: string | null;
  readonly sequence: number;
}

/** The states of a response that still runs. */
const RUNNING: ReadonlySet<string> = new Set(["queued", "in_progress"]);
/** How many responses and conversations of a key are remembered to be continued. */
const REMEMBERED = 8;

/** The response objects of a simulation: what clients may continue, and what has ended. */
export class KeptObjects {
  private readonly responses = new Map<string, string[]>();
  private readonly conversations = new Map<string, string[]>();
  private readonly ended = new Map<string, string>();

  constructor(private readonly database: Database) {}

  /** Returns fields of a request that keep its response, or continue one of the same key. */
  pickState(chance: SeededRandom, secret: string): Readonly<Record<string, unknown>> {
    const previous = this.responses.get(secret) ?? [];
    const conversations = this.conversations.get(secret) ?? [];
    const dice = chance.below(10);
    if (dice < 4) return { background: true };
    if (dice < 6 && previous.length > 0) return { store: true, previous_response_id: chance.pick(previous) };
    if (dice < 9 && conversations.length > 0)
      return { conversation: chance.pick(conversations), background: chance.oneIn(3) };
    return { store: true };
  }

  /** Notes what the client of an answer may continue. */
  note({ request, status, text, isWhole, generationId }: SimulatedClient): void {
    const { secret, path, state } = request;
    if (path === "/conversations" && status === 200) remember(this.conversations, secret, idOf(text));
    if (path === "/responses" && state !== null && isWhole && generationId !== null)
      remember(this.responses, secret, generationId);
  }

  list(): readonly ObjectRow[] {
    return this.database.query<ObjectRow, []>("SELECT * FROM response_objects ORDER BY id").all();
  }

  listRunning(): readonly ObjectRow[] {
    return this.list().filter(({ status }) => RUNNING.has(status));
  }

  /** Returns which responses have ended since the last time, and which are wrong: changed after their end, or two at one place. */
  compare(): { readonly wrong: readonly unknown[]; readonly ended: readonly ObjectRow[] } {
    const wrong: unknown[] = [];
    const ended: ObjectRow[] = [];
    const places = new Set<string>();
    for (const row of this.list()) {
      const before = this.ended.get(row.id);
      if (before !== undefined && before !== row.status) wrong.push({ row, before });
      if (before === undefined && !RUNNING.has(row.status)) {
        this.ended.set(row.id, row.status);
        ended.push(row);
      }
      const place = row.conversation_id === null ? row.id : `${row.conversation_id} ${row.sequence}`;
      if (places.has(place)) wrong.push({ row, place });
      places.add(place);
    }
    return { wrong, ended };
  }
}

function idOf(text: string): string {
  return (JSON.parse(text) as { readonly id: string }).id;
}

function remember(all: Map<string, string[]>, secret: string, id: string): void {
  const list = all.get(secret) ?? [];
  if (!list.includes(id)) all.set(secret, [...list, id].slice(-REMEMBERED));
}
