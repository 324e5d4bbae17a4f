import { readIdTime } from "../../../base/secrets/ids.ts";
import type { Outcome, UsageRecord } from "../records/records.ts";
import type { GenerationState } from "./generation-list.ts";

/** The maximum number of open generations that are followed until they end. */
const MAX_OPEN = 1_000;

/** The generations to load to see what has changed. */
interface Selection {
  readonly ids: readonly string[];
  /** How many changed generations are left out, because there are too many. */
  readonly dropped: number;
}

/**
 * The generations with a known state: the newest ones, and open ones until they end. Finds generations that are new or have changed. Kept
 * in memory only, bounded by what the caller reads in one step.
 */
export class FollowedGenerations {
  private readonly states = new Map<string, Outcome>();

  /** Marks generations as known. */
  know(states: readonly GenerationState[]): void {
    for (const { id, outcome } of states) this.states.set(id, outcome);
  }

  /** Selects at most `most` generations, the newest first: those with a new state, then open ones that are not in `newest`. */
  select(newest: readonly GenerationState[], most: number): Selection {
    const changed = newest.filter(({ id, outcome }) => this.states.get(id) !== outcome).map(({ id }) => id);
    const read = new Set(newest.map(({ id }) => id));
    const open = [...this.states].filter(([id, outcome]) => outcome === "open" && !read.has(id));
    const ids = [...changed.slice(0, most), ...open.map(([id]) => id)].slice(0, most);
    return { ids, dropped: Math.max(0, changed.length - most) };
  }

  /** Returns the records whose state is new, the earliest first, and marks them as known. */
  learn(records: readonly UsageRecord[]): readonly UsageRecord[] {
    const changed = records.filter(({ id, outcome }) => this.states.get(id) !== outcome);
    this.know(changed);
    return changed.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Forgets generations of earlier times that have ended, and the earliest open ones beyond the bound. */
  forgetBefore(ms: number): void {
    const open: string[] = [];
    for (const [id, outcome] of this.states) {
      const isOld = (readIdTime(id) ?? 0) < ms;
      if (isOld && outcome !== "open") this.states.delete(id);
      if (isOld && outcome === "open") open.push(id);
    }
    for (const id of open.sort().slice(0, Math.max(0, open.length - MAX_OPEN))) this.states.delete(id);
  }

  get size(): number {
    return this.states.size;
  }
}
