import { BoundedMap } from "../../../base/bounded-map.ts";
import type { Clock } from "../../../base/clock.ts";
import { toDollars } from "../../../base/money.ts";
import { dayOf } from "../../../base/time.ts";
import type { Warning } from "../../../wire/conversation/warning.ts";
import { type BudgetState, stateOf } from "../../accounts/budget-fields.ts";
import { type BudgetRecord, isForEach } from "../../accounts/budget-records.ts";
import type { BudgetStore } from "../../accounts/budget-store.ts";
import { type EventSink, eventId } from "../../events/event.ts";
import type { AdmittedGeneration, Extension, ExtensionPoints } from "../../generation/extension.ts";
import { daysOfBudget, meterOfBudget, nameDay, valuesOf } from "../../ledger/budget-limits.ts";
import type { Spender } from "../../ledger/hold-book.ts";

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
  readonly since: number;
  readonly level: Level;
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

/** What the watch of budgets needs. */
export interface BudgetWatchParts {
  readonly store: Pick<BudgetStore, "sumBudget" | "claimMark" | "mergeDays">;
  readonly clock: Pick<Clock, "now">;
}

/** What a comparison needs. */
export interface CheckParts {
  readonly send: EventSink;
  /** Saves every cost in the store. */
  readonly drain: () => Promise<void>;
}

/**
 * Knows which budgets are over their warning share or their limit, warns the requests that count for them, and reports each such state
 * once in a period. What requests have cost is compared at intervals, from the store.
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

  /** Returns how many sums are over their warning share, and how many of them have reached their limit, as far as this process knows. */
  count(): Readonly<Record<Level, number>> {
    const now = this.parts.clock.now();
    const counts = { warning: 0, reached: 0 };
    for (const { budget, since, level } of this.known.values())
      if (nameDay(budget, daysOfBudget(budget, now)) === since) counts[level] += 1;
    return counts;
  }

  /** Compares what waits with the limits and reports what is new. Rejects with a `StoreError` if the store is unavailable. */
  async check({ send, drain }: CheckParts): Promise<void> {
    if (this.waiting.size === 0) return;
    const waiting = [...this.waiting];
    // The store must have the costs of all of them; a request that ends meanwhile waits for the next check.
    this.waiting.clear();
    let done = 0;
    try {
      await drain();
      for (; done < waiting.length; done++) await this.compare((waiting[done] as [string, Waiting])[1], send);
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

  private async compare({ budget, value, at, isRefused }: Waiting, send: EventSink): Promise<void> {
    const days = daysOfBudget(budget, at);
    const sums = await this.parts.store.sumBudget({
      budgetId: budget.id,
      ...(value === null ? {} : { value }),
      days,
      least: 0,
      limit: value === null ? MAX_VALUES : 1,
    });
    const found = sums.length === 0 && value !== null ? [{ value, spent: 0 }] : sums;
    for (const sum of found) {
      const name = nameOf(budget, sum.value, at);
      const level = isRefused ? "reached" : stateOf(budget, sum.spent);
      const since = nameDay(budget, days);
      if (level === "ok") this.known.delete(name);
      else {
        this.known.set(name, { budget, since, level });
        await this.report({ budget, since, level }, sum, send);
      }
    }
  }

  /** Reports a state, and the warning before it, unless that was reported in the period. */
  private async report(
    { budget, since, level }: Known,
    { value, spent }: { readonly value: string; readonly spent: number },
    send: EventSink,
  ): Promise<void> {
    const { id, accountId, name, limit, period } = budget;
    for (const reported of level === "reached" ? LEVELS : (["warning"] as const)) {
      const isNew = await this.parts.store.claimMark({ budgetId: id, value, since, level: reported });
      if (!isNew) continue;
      const type = `budget.${reported}` as const;
      send({
        id: eventId(type, id, value, since),
        type,
        createdAt: this.parts.clock.now(),
        text: `${describe(budget, reported)} $${toDollars(spent).toFixed(2)} of $${toDollars(limit).toFixed(2)} are spent${value === "" ? "" : ` by ${value}`}.`,
        data: {
          budget_id: id,
          budget_name: name,
          account_id: accountId,
          period,
          value: value === "" ? null : value,
          limit: toDollars(limit),
          spent: toDollars(spent),
          action: budget.action,
        },
      });
    }
  }

  private listWarnings(budgets: readonly BudgetRecord[], spender: Spender): readonly Warning[] {
    const warnings: Warning[] = [];
    for (const budget of budgets)
      for (const value of valuesOf(budget, spender)) {
        const level = this.known.get(nameOf(budget, value, spender.createdAt))?.level;
        if (level !== undefined) warnings.push({ field: "budget", message: describe(budget, level) });
      }
    return warnings;
  }
}

const LEVELS: readonly Level[] = ["warning", "reached"];

function nameOf(budget: BudgetRecord, value: string, at: number): string {
  return `${meterOfBudget(budget, value)}@${nameDay(budget, daysOfBudget(budget, at))}`;
}

/** Says in a sentence how near to its limit a budget is. */
function describe({ name, warnAt }: BudgetRecord, level: Level): string {
  return level === "reached"
    ? `The budget ${JSON.stringify(name)} is used up.`
    : `The budget ${JSON.stringify(name)} has passed ${warnAt / 10} % of its limit.`;
}
