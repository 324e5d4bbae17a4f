import { fail } from "../../../base/failures/errors.ts";
import type { ChangeSource } from "../../gateways/change-source.ts";
import { type Drain, type DrainStore, type DrainTarget, drainNameOf } from "./drain-store.ts";

/** The source of drains. */
interface DrainSources {
  readonly store: DrainStore;
  readonly changes: Pick<ChangeSource, "read">;
}

/** The maximum number of stored drains. */
const MAX_DRAINS = 1_000;

/** The providers and model endpoints that operators have taken out of routing, in memory for the hot path. */
export class Drains {
  private byName: ReadonlyMap<string, Drain> = new Map();
  private revision = -1;

  constructor(private readonly sources: DrainSources) {}

  /** Returns the drain of a provider, or of its endpoint of a model, whichever ends last; null if there is none at `now`. */
  find(provider: string, model: string, now: number): Drain | null {
    if (this.byName.size === 0) return null;
    const ofAll = this.exact({ provider, model: null }, now);
    const ofModel = this.exact({ provider, model }, now);
    if (ofAll === null || ofModel === null) return ofAll ?? ofModel;
    return endOf(ofModel) > endOf(ofAll) ? ofModel : ofAll;
  }

  /** Returns the drain of exactly this target; null if there is none at `now`. */
  exact(target: DrainTarget, now: number): Drain | null {
    const drain = this.byName.get(drainNameOf(target));
    return drain !== undefined && endOf(drain) > now ? drain : null;
  }

  /** Returns the models of a provider that are drained on their own at `now`. */
  listModels(provider: string, now: number): readonly string[] {
    return [...this.byName.values()].flatMap((drain) =>
      drain.provider === provider && drain.model !== null && endOf(drain) > now ? [drain.model] : [],
    );
  }

  /** Reads the drains again if a process has changed any since the last call. */
  async refresh(): Promise<void> {
    const { store } = this.sources;
    const revision = await store.drainRevision();
    if (revision === this.revision) return;
    const drains = await store.listDrains();
    this.byName = new Map(drains.map((drain) => [drainNameOf(drain), drain]));
    this.revision = revision;
  }

  /**
   * Takes a target out of routing, and forgets drains that have ended. Other gateways follow within a second.
   * @throws GatewayError `conflict` if there are too many drains.
   */
  async put(drain: Drain): Promise<void> {
    const { store } = this.sources;
    const all = await store.listDrains();
    const ended = all.filter((one) => endOf(one) <= drain.since);
    for (const one of ended) await store.deleteDrain(one);
    if (all.length - ended.length >= MAX_DRAINS)
      fail("conflict", `There are ${MAX_DRAINS} drains. End one before you add another.`);
    await store.putDrain(drain);
    await this.reload();
  }

  /** Returns a target to routing. Returns false if it had no drain. */
  async remove(target: DrainTarget): Promise<boolean> {
    const isRemoved = await this.sources.store.deleteDrain(target);
    await this.reload();
    return isRemoved;
  }

  private async reload(): Promise<void> {
    // If that fails, the next regular reading finds the change.
    await this.sources.changes.read().catch(() => {});
    await this.refresh();
  }
}

function endOf({ until }: Drain): number {
  return until ?? Number.POSITIVE_INFINITY;
}
