import { BoundedMap } from "../../../base/collections/bounded-map.ts";
import type {
  AttemptReport,
  EndpointHealth,
  EndpointHealthReport,
  Health,
  HealthTarget,
  OpenCircuits,
  OutcomeTimes,
  ProviderHealthReport,
  TargetCooldown,
} from "./health.ts";
import type { HealthHint } from "./health-hints.ts";
import { isScopeOf } from "./health-scope.ts";
import type { KeyCooldownReport, KeyTrouble } from "./key-cooldowns.ts";

/** Health with the advice of other gateways. */
export interface AdvisedHealth extends Health {
  /** Applies a hint of another gateway. */
  advise(hint: HealthHint, now: number): void;
}

/** How long a circuit that opens is advised to be avoided: its first time to be open. Milliseconds. */
const CIRCUIT_MS = 5_000;
/** With this many attempts of its own in the last minute, a gateway needs no hints about an endpoint. */
const ENOUGH_ATTEMPTS = 5;
const MAX_HINTS = 1_000;
/** The same hint is not sent again within this time. Milliseconds. */
const REPEAT_MS = 1_000;
/** Means all models of a provider or key. No model has it as its id. */
const ALL = "";

interface Advice<Why> {
  readonly why: Why;
  readonly receivedAt: number;
  readonly until: number;
}

/**
 * Adds the health hints of other gateways to a gateway's own measurements, and calls `send` with hints for the others. Hints apply only
 * where there are no own measurements. They expire after seconds, or when an attempt succeeds. They change the order of candidates and
 * never exclude the last one.
 */
export function createAdvisedHealth(own: Health, send: (hint: HealthHint) => void): AdvisedHealth {
  return new AdvisedHealthMemory(own, send);
}

class AdvisedHealthMemory implements AdvisedHealth {
  private readonly circuits = new BoundedMap<string, Advice<"open">>({ max: MAX_HINTS });
  private readonly keys = new BoundedMap<string, Advice<KeyTrouble>>({ max: MAX_HINTS });
  private readonly sent = new BoundedMap<string, number>({ max: MAX_HINTS });

  constructor(
    private readonly own: Health,
    private readonly send: (hint: HealthHint) => void,
  ) {}

  advise(hint: HealthHint, now: number): void {
    const times = { receivedAt: now, until: now + hint.forMs };
    if (hint.kind === "circuit")
      this.circuits.set(nameOf(hint.provider, hint.model ?? ALL), { why: "open", ...times });
    else this.keys.set(nameOf(hint.keyLabel, hint.model ?? ALL), { why: hint.why, ...times });
  }

  endpoint(provider: string, model: string, now: number): EndpointHealth {
    const health = this.own.endpoint(provider, model, now);
    if (this.circuits.size === 0 || health.state !== "closed" || health.volume >= ENOUGH_ATTEMPTS)
      return health;
    const advice = findAdvice(this.circuits, { name: provider, model, now });
    return advice === null ? health : { ...health, state: "open" };
  }

  cooldown(target: HealthTarget, now: number): TargetCooldown | null {
    const cooldown = this.own.cooldown(target, now);
    if (this.keys.size === 0 || cooldown !== null) return cooldown;
    const advice = findAdvice(this.keys, { name: target.keyLabel, model: target.model, now });
    return advice === null ? null : { ms: advice.until - now, why: advice.why, mayIgnore: true };
  }

  begin(target: HealthTarget, now: number): void {
    this.own.begin(target, now);
  }

  record(target: HealthTarget, report: AttemptReport, times: OutcomeTimes): void {
    const { kind } = report;
    if (kind === "failed" || kind === "overloaded") this.recordFailure(target, report, times);
    else {
      this.own.record(target, report, times);
      if (kind === "begun" || kind === "succeeded") this.endAdvice(target, times.beganAt);
      else if (kind !== "neutral") this.sendKeyHint(target, report, times.now);
    }
  }

  describe(provider: string, model: string, now: number): EndpointHealthReport {
    return this.own.describe(provider, model, now);
  }

  describeProvider(provider: string, now: number): ProviderHealthReport {
    return this.own.describeProvider(provider, now);
  }

  listOpenCircuits(provider: string, now: number): OpenCircuits {
    return this.own.listOpenCircuits(provider, now);
  }

  listKeyCooldowns(keyLabel: string, now: number): readonly KeyCooldownReport[] {
    return this.own.listKeyCooldowns(keyLabel, now);
  }

  forget(provider: string, keyLabels: readonly string[]): void {
    this.own.forget(provider, keyLabels);
    for (const [name] of this.circuits) if (isScopeOf(provider, subjectOf(name))) this.circuits.delete(name);
    for (const [name] of this.keys) if (keyLabels.includes(subjectOf(name))) this.keys.delete(name);
  }

  private recordFailure(target: HealthTarget, report: AttemptReport, times: OutcomeTimes): void {
    const { provider, model } = target;
    const { now } = times;
    const isOpen = (ofModel: string): boolean => this.own.endpoint(provider, ofModel, now).state === "open";
    const [endpointWasOpen, providerWasOpen] = [isOpen(model), isOpen(ALL)];
    this.own.record(target, report, times);
    const opened = { kind: "circuit", provider, forMs: CIRCUIT_MS } as const;
    if (!providerWasOpen && isOpen(ALL)) this.sendOnce({ ...opened, model: null }, now);
    else if (!endpointWasOpen && isOpen(model)) this.sendOnce({ ...opened, model }, now);
  }

  private sendKeyHint(target: HealthTarget, report: AttemptReport, now: number): void {
    const cooldown = this.own.cooldown(target, now);
    if (cooldown === null || cooldown.why === "overloaded") return;
    const isOfAll =
      report.kind === "out_of_credit" || (report.kind === "key_refused" && report.scope === "key");
    const { why, ms: forMs } = cooldown;
    const model = isOfAll ? null : target.model;
    this.sendOnce({ kind: "key", keyLabel: target.keyLabel, model, why, forMs }, now);
  }

  private sendOnce(hint: HealthHint, now: number): void {
    const name = nameOf(
      hint.kind === "circuit" ? `circuit ${hint.provider}` : `key ${hint.keyLabel}`,
      hint.model ?? ALL,
    );
    if (now - (this.sent.get(name) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return;
    this.sent.set(name, now);
    this.send(hint);
  }

  /** Ends the advice that an attempt, begun after it was received, has disproved. */
  private endAdvice({ provider, model, keyLabel }: HealthTarget, beganAt: number): void {
    if (this.circuits.size === 0 && this.keys.size === 0) return;
    for (const [advice, name] of [
      [this.circuits, provider],
      [this.keys, keyLabel],
    ] as const) {
      for (const key of [nameOf(name, model), nameOf(name, ALL)]) {
        const found = advice.get(key);
        if (found !== undefined && found.receivedAt <= beganAt) advice.delete(key);
      }
    }
  }
}

/** Returns the advice about a model, or about all models. Advice that has ended is removed. */
function findAdvice<Why>(
  advice: BoundedMap<string, Advice<Why>>,
  { name, model, now }: { readonly name: string; readonly model: string; readonly now: number },
): Advice<Why> | null {
  for (const key of [nameOf(name, model), nameOf(name, ALL)]) {
    const found = advice.get(key);
    if (found === undefined) continue;
    if (found.until > now) return found;
    advice.delete(key);
  }
  return null;
}

/** Returns the provider or key label of a name. */
function subjectOf(name: string): string {
  return name.slice(0, name.indexOf("\n"));
}

function nameOf(of: string, model: string): string {
  return `${of}\n${model}`;
}
