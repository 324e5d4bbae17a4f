import { BoundedMap } from "../../../base/collections/bounded-map.ts";
import { printDollars, toDollars } from "../../../base/numbers/money.ts";
import type { Clock } from "../../../base/time/clock.ts";
import { nextTurn } from "../../../base/time/next-turn.ts";
import { type DayRange, dayOf } from "../../../base/time/time.ts";
import type { Warning } from "../../../wire/conversation/warning.ts";
import { type BudgetState, stateOf } from "../../accounts/records/budget-fields.ts";
import { type BudgetRecord, isForEach, labelBudget } from "../../accounts/records/budget-records.ts";
import {
  BUDGET_SUMS_AT_ONCE,
  type BudgetMark,
  type BudgetStore,
} from "../../accounts/stores/budget-store.ts";
import type { TeamStore } from "../../accounts/stores/team-store.ts";
import { type EventSink, eventId, type GatewayEvent } from "../../events/event.ts";
import type { AdmittedGeneration, Extension, ExtensionPoints } from "../../generation/call/extension.ts";
import type { Spender } from "../../ledger/holds/hold-book.ts";
import { daysOfBudget, meterOfBudget, nameDay, valuesOf } from "../../ledger/limits/budget-limits.ts";

/** Sums of budgets whose state is known. */
const MAX_KNOWN = 100_000;
/** Sums that wait to be compared with their limits; further ones are compared with the next request that counts for them. */
const MAX_WAITING = 50_000;
/** End users or tags over their warning share that a look at a whole budget finds. */
const MAX_VALUES = 1_000;
/** For how many days sums of days are kept: longer than every period. */
const KEPT_DAYS = 366;

type Level = Exclude<BudgetState, "ok">;

interface Known {
  readonly budget: BudgetRecord;
  /** The name of its team; null for a budget of another subject. */
  readonly team: string | null;
  readonly since: number;
  readonly level: Level;
  readonly isSpent: boolean;
}

/** A sum that may have passed a share of its limit. */
interface Waiting {
  readonly budget: BudgetRecord;
  /** Null for all end users or tags. */
  readonly value: string | null;
  /** A time in the period. */
  readonly at: number;
  /** A request did not fit. */
  readonly isRefused: boolean;
}

interface WaitingSum extends Waiting {
  readonly value: string;
}

/** A sum, and what was spent in it. */
interface Spent extends Pick<WaitingSum, "budget" | "value" | "isRefused"> {
  readonly team: Known["team"];
  readonly days: DayRange;
  /** Nanodollars. */
  readonly spent: number;
}

/** A state that is reported unless it was reported. */
interface Reportable extends BudgetMark {
  readonly sum: Spent;
}

/** The dependencies of the watch of budgets. */
interface BudgetWatchParts {
  readonly store: Pick<BudgetStore, "sumBudgets" | "listTopSums" | "claimMarks" | "mergeDays">;
  readonly teams: Pick<TeamStore, "findTeamNames">;
  readonly clock: Pick<Clock, "now">;
}

/** The dependencies of a comparison. */
interface CheckParts {
  readonly send: EventSink;
  /** Saves every cost in the store. */
  readonly drain: () => Promise<void>;
}

/**
 * Knows which budgets are over their warning share or their limit. Warns the requests that count for them, and reports each such state once
 * in a period. Compares what requests have cost with the store at intervals.
 */
export class BudgetWatch implements Extension {
  readonly name = "budgets";
  private readonly known = new BoundedMap<string, Known>({ max: MAX_KNOWN });
  private readonly waiting = new Map<string, Waiting>();
  /** The lists of budgets that were looked at as a whole. */
  private readonly seen = new WeakSet<readonly BudgetRecord[]>();
  private mergedOn = 0;

  constructor(private readonly parts: BudgetWatchParts) {}

  attach({ call: { principal }, spender }: AdmittedGeneration): ExtensionPoints | null {
    if (principal.kind === "anonymous" || principal.account.budgets === undefined) return null;
    return this.watch(principal.account.budgets, spender);
  }

  private watch(budgets: readonly BudgetRecord[], spender: Spender): ExtensionPoints {
    if (!this.seen.has(budgets)) this.lookAtAll(budgets);
    const warnings = this.known.size === 0 ? [] : this.listWarnings(budgets, spender);
    return {
      onSettled: (record) => {
        if (record.costNanodollars > 0) this.add(budgets, record, false);
      },
      ...(warnings.length > 0 && { beforeRoute: async () => ({ kind: "continue" as const, warnings }) }),
    };
  }

  /** Notes that a request was rejected because of a budget. */
  refused(budgets: readonly BudgetRecord[], budgetId: string, spender: Spender): void {
    this.add(
      budgets.filter(({ id }) => id === budgetId),
      spender,
      true,
    );
  }

  /** Returns how many sums are over their warning share, and how many have reached their limit, as far as this process knows. */
  count(): Readonly<Record<Level, number>> {
    const now = this.parts.clock.now();
    const counts = { warning: 0, reached: 0 };
    const present = new Map<BudgetRecord, number>();
    for (const { budget, since, level } of this.known.values()) {
      const day = present.get(budget) ?? nameDay(budget, daysOfBudget(budget, now));
      present.set(budget, day);
      if (day === since) counts[level] += 1;
    }
    return counts;
  }

  /**
   * Compares waiting costs with the limits and reports new states: a slice in each turn of the event loop, with two calls of the store.
   * Rejects with a `StoreError` if the store is unavailable.
   */
  async check({ send, drain }: CheckParts): Promise<void> {
    if (this.waiting.size === 0) return;
    const waiting = [...this.waiting];
    // The store must have the costs of all of them; a request that ends meanwhile waits for the next check.
    this.waiting.clear();
    let done = 0;
    try {
      await drain();
      while (done < waiting.length) {
        const slice = waiting.slice(done, done + BUDGET_SUMS_AT_ONCE).map(([, one]) => one);
        await this.compareAll(slice, send);
        done += slice.length;
        await nextTurn();
      }
    } finally {
      for (const [name, left] of waiting.slice(done))
        if (!this.waiting.has(name)) this.waiting.set(name, left);
    }
  }

  /** Merges sums of days that no period needs, once a day. Called by one of several gateways. */
  async merge(): Promise<void> {
    const today = dayOf(this.parts.clock.now());
    if (today === this.mergedOn) return;
    await this.parts.store.mergeDays(today - KEPT_DAYS);
    this.mergedOn = today;
  }

  private lookAtAll(budgets: readonly BudgetRecord[]): void {
    this.seen.add(budgets);
    const at = this.parts.clock.now();
    for (const budget of budgets)
      this.wait({ budget, value: isForEach(budget) ? null : "", at, isRefused: false });
  }

  private add(budgets: readonly BudgetRecord[], spender: Spender, isRefused: boolean): void {
    for (const budget of budgets)
      for (const value of valuesOf(budget, spender))
        this.wait({ budget, value, at: spender.createdAt, isRefused });
  }

  private wait(waiting: Waiting): void {
    const { budget, value, at } = waiting;
    const name = `${nameOf(budget, value ?? "*", at)}${waiting.isRefused ? "!" : ""}`;
    if (this.waiting.size < MAX_WAITING || this.waiting.has(name)) this.waiting.set(name, waiting);
  }

  private async compareAll(slice: readonly Waiting[], send: EventSink): Promise<void> {
    for (const one of slice) if (one.value === null) await this.compareWhole(one, send);
    const named = slice.filter((one): one is WaitingSum => one.value !== null);
    if (named.length === 0) return;
    const queries = named.map(({ budget, value, at }) => ({
      budgetId: budget.id,
      value,
      days: daysOfBudget(budget, at),
    }));
    const sums = await this.parts.store.sumBudgets(queries);
    const teams = await this.nameTeams(named.map(({ budget }) => budget));
    const found = named.map(({ budget, value, at, isRefused }, index): Spent => {
      const team = teams.get(budget.id) ?? null;
      return { budget, team, value, isRefused, days: daysOfBudget(budget, at), spent: sums[index] ?? 0 };
    });
    await this.learn(found, send);
  }

  /** Returns the names of the teams of budgets, by the ids of the budgets. Without a budget of a team, the store is not asked. */
  private async nameTeams(budgets: readonly BudgetRecord[]): Promise<ReadonlyMap<string, string>> {
    const ofTeams = budgets.flatMap(({ id, subject, subjectId }) =>
      subject === "team" && subjectId !== null ? [{ id, teamId: subjectId }] : [],
    );
    if (ofTeams.length === 0) return new Map();
    const names = await this.parts.teams.findTeamNames([...new Set(ofTeams.map(({ teamId }) => teamId))]);
    return new Map(ofTeams.map(({ id, teamId }) => [id, names.get(teamId) ?? teamId]));
  }

  /** Compares the largest sums of a budget for each end user or tag. */
  private async compareWhole({ budget, at, isRefused }: Waiting, send: EventSink): Promise<void> {
    const days = daysOfBudget(budget, at);
    const query = { budgetId: budget.id, days, limit: MAX_VALUES };
    const found = (await this.parts.store.listTopSums(query)).map((sum) => ({
      ...sum,
      budget,
      team: null,
      days,
      isRefused,
    }));
    for (let from = 0; from < found.length; from += BUDGET_SUMS_AT_ONCE) {
      await this.learn(found.slice(from, from + BUDGET_SUMS_AT_ONCE), send);
      await nextTurn();
    }
  }

  /** Remembers the states of sums, and reports those that are new in their period. */
  private async learn(found: readonly Spent[], send: EventSink): Promise<void> {
    const reportable: Reportable[] = [];
    for (const sum of found) {
      const { budget, team, value, days, spent, isRefused } = sum;
      const name = nameIn(budget, value, days);
      const state = stateOf(budget, spent);
      const level = isRefused ? "reached" : state;
      if (level === "ok") this.known.delete(name);
      else {
        const since = nameDay(budget, days);
        this.known.set(name, { budget, team, since, level, isSpent: state === "reached" });
        // The warning comes before the limit, unless that was reported in the period, or only a request did not fit.
        if (state !== "ok") reportable.push({ budgetId: budget.id, value, since, level: "warning", sum });
        if (level === "reached") reportable.push({ budgetId: budget.id, value, since, level, sum });
      }
    }
    for (let from = 0; from < reportable.length; from += BUDGET_SUMS_AT_ONCE)
      await this.report(reportable.slice(from, from + BUDGET_SUMS_AT_ONCE), send);
  }

  private async report(reportable: readonly Reportable[], send: EventSink): Promise<void> {
    const areNew = await this.parts.store.claimMarks(reportable);
    const createdAt = this.parts.clock.now();
    for (const [at, state] of reportable.entries())
      if (areNew[at] === true) send(describeEvent(state, createdAt));
  }

  private listWarnings(budgets: readonly BudgetRecord[], spender: Spender): readonly Warning[] {
    const warnings: Warning[] = [];
    for (const budget of budgets)
      for (const value of valuesOf(budget, spender)) {
        const known = this.known.get(nameOf(budget, value, spender.createdAt));
        if (known !== undefined) warnings.push({ field: "budget", message: describe(known) });
      }
    return warnings;
  }
}

function nameOf(budget: BudgetRecord, value: string, at: number): string {
  return nameIn(budget, value, daysOfBudget(budget, at));
}

function nameIn(budget: BudgetRecord, value: string, days: DayRange): string {
  return `${meterOfBudget(budget, value)}@${nameDay(budget, days)}`;
}

function describeEvent({ sum, level, since }: Reportable, createdAt: number): GatewayEvent {
  const { budget, team, value, spent } = sum;
  const { id, accountId, name, limit, period, action } = budget;
  const type = `budget.${level}` as const;
  return {
    id: eventId(type, id, value, since),
    type,
    createdAt,
    text: `${describe({ budget, team, level, isSpent: spent >= limit })} Spent${value === "" ? "" : ` by ${value}`}: ${printDollars(spent)} of ${printDollars(limit)}.`,
    data: {
      budget_id: id,
      budget_name: name,
      account_id: accountId,
      team_id: team === null ? null : budget.subjectId,
      team_name: team,
      period,
      value: value === "" ? null : value,
      limit: toDollars(limit),
      spent: toDollars(spent),
      action,
    },
  };
}

/** Describes in a sentence how close a budget is to its limit. A request may not fit in a budget that is not used up. */
function describe({
  budget: { name, warnAt },
  team,
  level,
  isSpent,
}: Pick<Known, "budget" | "team" | "level" | "isSpent">): string {
  const budget = `The ${labelBudget(name, team)}`;
  if (level === "warning") return `${budget} has passed ${warnAt / 10} % of its limit.`;
  return isSpent
    ? `${budget} is used up.`
    : `${budget} has rejected a request that costs more than what is left.`;
}
