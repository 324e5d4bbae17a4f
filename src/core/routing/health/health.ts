import type { Percentiles } from "../../../base/numbers/percentiles.ts";
import { Circuit, type CircuitState, type CircuitThreshold } from "./circuit.ts";
import { isScopeOf } from "./health-scope.ts";
import {
  type Cooldown,
  type CooldownBounds,
  extendCooldown,
  type KeyCooldownReport,
  KeyCooldowns,
  type KeyTrouble,
} from "./key-cooldowns.ts";
import { LogHistogram } from "./log-histogram.ts";

/** The target of an attempt. */
export interface HealthTarget {
  /** The name that `healthScopeOf` returns. */
  readonly provider: string;
  readonly model: string;
  readonly keyLabel: string;
}

/** The outcome of an attempt, as it affects health. */
export type AttemptReport =
  /** The first token of a stream has arrived; its end is reported separately. */
  | { readonly kind: "begun"; readonly ttftMs: number }
  /** The answer is complete. */
  | { readonly kind: "succeeded"; readonly tokensPerS: number | null }
  /** A connection failure, a 5xx status, a timeout, a 200 without an answer, or an answer that broke off. */
  | { readonly kind: "failed" }
  | { readonly kind: "overloaded" | "rate_limited"; readonly retryAfterMs: number | null }
  /** `scope`: the key was rejected for everything, or for this model. */
  | { readonly kind: "key_refused"; readonly scope: "key" | "model" }
  | { readonly kind: "out_of_credit" }
  /** The request is at fault, the client left, or the answer is empty. */
  | { readonly kind: "neutral" };

/** The health of a provider's endpoint for a model, for the planner. */
export interface EndpointHealth {
  readonly state: CircuitState;
  /** Smoothed success rate, 0 to 1; close to 1 after few attempts. */
  readonly success: number;
  /** Attempts in the last minute. */
  readonly volume: number;
  /** Medians; null below the minimum sample size. */
  readonly ttftMs: number | null;
  readonly tokensPerS: number | null;
}

/** The health of an endpoint, as the API reports it. */
export interface EndpointHealthReport {
  readonly state: CircuitState;
  /** The success rate; null without attempts. */
  readonly success: number | null;
  readonly volume: number;
  readonly ttftMs: Percentiles | null;
  readonly tokensPerS: Percentiles | null;
}

/** When an attempt began. Milliseconds since the epoch. */
export interface AttemptTimes {
  /** The `now` of its `begin`. */
  readonly beganAt: number;
  /** When the request arrived. Several attempts of one request count as one request. */
  readonly requestedAt: number;
}

/** When an attempt began and had an outcome. Milliseconds since the epoch. */
export interface OutcomeTimes extends AttemptTimes {
  readonly now: number;
}

/** How long a target is skipped, and why. */
export interface TargetCooldown {
  readonly ms: number;
  readonly why: KeyTrouble | "overloaded";
  /** Whether the target may be called if there is no other: the reason is only an overload, or only another gateway's advice. */
  readonly mayIgnore: boolean;
}

/** The recent health of providers, their models and keys, in memory. */
export interface Health {
  endpoint(provider: string, model: string, now: number): EndpointHealth;
  /** Returns the cooldown of a target; null if it has none. A cooldown that was evicted early costs one failed attempt. */
  cooldown(target: HealthTarget, now: number): TargetCooldown | null;
  /** Records that an attempt begins; it is the probe of a half-open circuit. */
  begin(target: HealthTarget, now: number): void;
  /** Records the outcome of an attempt. */
  record(target: HealthTarget, report: AttemptReport, times: OutcomeTimes): void;
  describe(provider: string, model: string, now: number): EndpointHealthReport;
  /** Describes a provider as a whole, over all of its models. `models` lists the models with attempts. */
  describeProvider(provider: string, now: number): ProviderHealthReport;
  /** Lists the circuits of a provider that are not closed, as this gateway has measured them. */
  listOpenCircuits(provider: string, now: number): OpenCircuits;
  /** Lists the cooldowns of a key that have not ended. */
  listKeyCooldowns(keyLabel: string, now: number): readonly KeyCooldownReport[];
  /**
   * Forgets the circuits, cooldowns and measurements of a provider, including those at addresses of BYOK keys, and the cooldowns of these
   * keys.
   */
  forget(provider: string, keyLabels: readonly string[]): void;
}

/** The circuits of a provider that are not closed: its own (`isWhole`), and those of its models. */
export interface OpenCircuits {
  readonly isWhole: boolean;
  readonly models: readonly string[];
}

/** The health of a provider: `state` is that of its own circuit, `volume` and `failures` are attempts in the last minute. */
export interface ProviderHealthReport extends EndpointHealthReport {
  readonly failures: number;
  readonly models: readonly string[];
}

const ENDPOINT_THRESHOLD: CircuitThreshold = { failures: 5, share: 0.5, consecutive: 5 };
/** An open provider circuit blocks all of its models, so opening it takes as many failures as opening two of their circuits. */
const PROVIDER_THRESHOLD: CircuitThreshold = { failures: 10, share: 0.8, consecutive: 10 };
/** Cooldowns of an overloaded endpoint, from the second consecutive request on. A single overload is an ordinary failure. */
const OVERLOAD_BOUNDS: CooldownBounds = { firstMs: 5_000, maxMs: 30_000 };
/** Successes that are added to the observed ones, because a few failures alone mean little. */
const PRIOR = 4;
const MAX_TARGETS = 10_000;
/** By how much the recency of an endpoint may lag. Milliseconds. */
const TOUCH_MS = 5_000;
const MIN_TTFT_MS = 10;
const MIN_TOKENS_PER_S = 0.5;

const UNKNOWN: EndpointHealth = {
  state: "closed",
  success: 1,
  volume: 0,
  ttftMs: null,
  tokensPerS: null,
};

interface ProviderState {
  readonly circuit: Circuit;
  readonly models: Map<string, EndpointState>;
}

interface EndpointState {
  /** The circuit of its provider. */
  readonly whole: Circuit;
  readonly provider: string;
  readonly model: string;
  readonly circuit: Circuit;
  readonly ttft: LogHistogram;
  readonly speed: LogHistogram;
  overload: Cooldown<"overloaded"> | null;
  /** When the last of consecutive overloads occurred; null if the last attempt met none. */
  overloadedAt: number | null;
  touchedAt: number;
}

/** Creates health statistics for at most `maxTargets` endpoints, and as many cooldowns of keys. */
export function createHealth(maxTargets = MAX_TARGETS): Health {
  return new HealthMemory(maxTargets);
}

class HealthMemory implements Health {
  private readonly providers = new Map<string, ProviderState>();
  /** In order of use, the most recent last. */
  private readonly recent = new Set<EndpointState>();
  private readonly keyCooldowns: KeyCooldowns;

  constructor(private readonly maxTargets: number) {
    this.keyCooldowns = new KeyCooldowns(maxTargets);
  }

  endpoint(provider: string, model: string, now: number): EndpointHealth {
    const whole = this.providers.get(provider);
    if (whole === undefined) return UNKNOWN;
    const state = whole.models.get(model);
    if (state === undefined) return { ...UNKNOWN, state: whole.circuit.state(now) };
    const { window } = state.circuit;
    const successes = window.successes(now);
    const volume = successes + window.failures(now);
    return {
      state: worseOf(whole.circuit.state(now), state.circuit.state(now)),
      success: (successes + PRIOR) / (volume + PRIOR),
      volume,
      ttftMs: state.ttft.p50(now),
      tokensPerS: state.speed.p50(now),
    };
  }

  cooldown({ provider, model, keyLabel }: HealthTarget, now: number): TargetCooldown | null {
    const ofKey = this.keyCooldowns.find(keyLabel, model, now);
    const overload = this.providers.get(provider)?.models.get(model)?.overload ?? null;
    if (overload !== null && overload.until > now && (ofKey === null || ofKey.until < overload.until)) {
      return { ms: overload.until - now, why: overload.why, mayIgnore: ofKey === null };
    }
    return ofKey === null ? null : { ms: ofKey.until - now, why: ofKey.why, mayIgnore: false };
  }

  begin({ provider, model }: HealthTarget, now: number): void {
    const whole = this.providers.get(provider);
    whole?.circuit.begin(now);
    whole?.models.get(model)?.circuit.begin(now);
  }

  record(target: HealthTarget, report: AttemptReport, times: OutcomeTimes): void {
    const { model, keyLabel } = target;
    const { beganAt, requestedAt, now } = times;
    const state = this.openEndpoint(target, now);
    recordCircuits(state, report.kind, times);
    switch (report.kind) {
      case "begun":
        state.ttft.add(report.ttftMs, now);
        this.clearCooldowns(state, keyLabel, beganAt);
        break;
      case "succeeded":
        if (report.tokensPerS !== null) state.speed.add(report.tokensPerS, now);
        this.clearCooldowns(state, keyLabel, beganAt);
        break;
      case "overloaded":
        recordOverload(state, report.retryAfterMs, times);
        break;
      case "rate_limited": {
        const trouble = { why: report.kind, saidMs: report.retryAfterMs, requestedAt, now };
        this.keyCooldowns.set(keyLabel, model, trouble);
        break;
      }
      case "key_refused":
      case "out_of_credit": {
        const ofModel = report.kind === "key_refused" && report.scope === "model";
        const trouble = { why: report.kind, saidMs: null, requestedAt, now };
        this.keyCooldowns.set(keyLabel, ofModel ? model : null, trouble);
      }
    }
  }

  describe(provider: string, model: string, now: number): EndpointHealthReport {
    const { state, volume } = this.endpoint(provider, model, now);
    const known = this.providers.get(provider)?.models.get(model);
    const successes = known?.circuit.window.successes(now) ?? 0;
    return {
      state,
      success: volume === 0 ? null : successes / volume,
      volume,
      ttftMs: known?.ttft.percentiles(now) ?? null,
      tokensPerS: known?.speed.percentiles(now) ?? null,
    };
  }

  describeProvider(provider: string, now: number): ProviderHealthReport {
    const whole = this.providers.get(provider);
    const ttft = new LogHistogram(MIN_TTFT_MS);
    const speed = new LogHistogram(MIN_TOKENS_PER_S);
    let [successes, failures] = [0, 0];
    // The window of the provider's circuit leaves out failures that a model's circuit ignores.
    for (const state of whole?.models.values() ?? []) {
      successes += state.circuit.window.successes(now);
      failures += state.circuit.window.failures(now);
      ttft.merge(state.ttft, now);
      speed.merge(state.speed, now);
    }
    const volume = successes + failures;
    return {
      state: whole?.circuit.state(now) ?? "closed",
      success: volume === 0 ? null : successes / volume,
      volume,
      failures,
      ttftMs: ttft.percentiles(now),
      tokensPerS: speed.percentiles(now),
      models: [...(whole?.models.keys() ?? [])],
    };
  }

  listOpenCircuits(provider: string, now: number): OpenCircuits {
    const whole = this.providers.get(provider);
    if (whole === undefined) return { isWhole: false, models: [] };
    const states = [...whole.models.values()];
    return {
      isWhole: whole.circuit.state(now) !== "closed",
      models: states.filter(({ circuit }) => circuit.state(now) !== "closed").map(({ model }) => model),
    };
  }

  listKeyCooldowns(keyLabel: string, now: number): readonly KeyCooldownReport[] {
    return this.keyCooldowns.list(keyLabel, now);
  }

  forget(provider: string, keyLabels: readonly string[]): void {
    for (const [scope, { models }] of this.providers) {
      if (!isScopeOf(provider, scope)) continue;
      for (const state of models.values()) this.recent.delete(state);
      this.providers.delete(scope);
    }
    for (const label of keyLabels) this.keyCooldowns.forget(label);
  }

  private clearCooldowns(state: EndpointState, keyLabel: string, beganAt: number): void {
    this.keyCooldowns.clear(keyLabel, state.model, beganAt);
    state.overloadedAt = null;
    if (state.overload !== null && beganAt >= state.overload.setAt) state.overload = null;
  }

  private openProvider(provider: string): ProviderState {
    let whole = this.providers.get(provider);
    if (whole === undefined) {
      whole = { circuit: new Circuit(PROVIDER_THRESHOLD, provider), models: new Map() };
      this.providers.set(provider, whole);
    }
    return whole;
  }

  private openEndpoint({ provider, model }: HealthTarget, now: number): EndpointState {
    const whole = this.openProvider(provider);
    let state = whole.models.get(model);
    if (state === undefined) {
      state = {
        whole: whole.circuit,
        provider,
        model,
        circuit: new Circuit(ENDPOINT_THRESHOLD, `${provider} ${model}`),
        ttft: new LogHistogram(MIN_TTFT_MS),
        speed: new LogHistogram(MIN_TOKENS_PER_S),
        overload: null,
        overloadedAt: null,
        touchedAt: now,
      };
      whole.models.set(model, state);
      this.recent.add(state);
      this.forgetOldest();
    } else if (now - state.touchedAt >= TOUCH_MS) {
      state.touchedAt = now;
      this.recent.delete(state);
      this.recent.add(state);
    }
    return state;
  }

  private forgetOldest(): void {
    if (this.recent.size <= this.maxTargets) return;
    const [oldest] = this.recent;
    if (oldest === undefined) return;
    this.recent.delete(oldest);
    const whole = this.providers.get(oldest.provider);
    whole?.models.delete(oldest.model);
    if (whole?.models.size === 0) this.providers.delete(oldest.provider);
  }
}

function recordCircuits(
  { circuit, whole }: EndpointState,
  kind: AttemptReport["kind"],
  { beganAt, now }: OutcomeTimes,
): void {
  if (kind === "begun") {
    circuit.recordStart(beganAt);
    whole.recordStart(beganAt);
  } else if (kind === "succeeded") {
    circuit.recordSuccess(beganAt, now);
    whole.recordSuccess(beganAt, now);
  } else if (kind === "failed" || kind === "overloaded") {
    // A failure that the endpoint's circuit ignores does not count for the provider: only failures of several models open its circuit.
    if (circuit.recordFailure(beganAt, now)) whole.recordFailure(beganAt, now);
  }
  circuit.release(beganAt);
  whole.release(beganAt);
}

function recordOverload(
  state: EndpointState,
  saidMs: number | null,
  { requestedAt, now }: OutcomeTimes,
): void {
  const { overloadedAt } = state;
  const isFurther = overloadedAt !== null && requestedAt > overloadedAt;
  if (overloadedAt === null || isFurther) state.overloadedAt = now;
  if (saidMs === null && !isFurther) return;
  const trouble = { why: "overloaded", saidMs, requestedAt, now } as const;
  state.overload = extendCooldown(state.overload, trouble, OVERLOAD_BOUNDS);
}

function worseOf(a: CircuitState, b: CircuitState): CircuitState {
  if (a === "open" || b === "open") return "open";
  return a === "closed" ? b : a;
}
