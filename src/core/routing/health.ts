import { Circuit, type CircuitState, type CircuitThreshold } from "./circuit.ts";
import {
  type CooldownBounds,
  extendCooldown,
  KeyCooldowns,
  type KeyFailure,
  type Wait,
} from "./key-cooldowns.ts";
import { LogHistogram, type Percentiles } from "./log-histogram.ts";

/** Where an attempt goes. */
export interface HealthTarget {
  /** Its slug, or what `healthScopeOf` makes of it. */
  readonly provider: string;
  readonly model: string;
  readonly keyLabel: string;
}

/** How an attempt went, as far as health is concerned. */
export type AttemptReport =
  /** A stream's first token has come; its end is told apart. */
  | { readonly kind: "begun"; readonly ttftMs: number }
  /** The whole answer has come. */
  | { readonly kind: "succeeded"; readonly tokensPerS: number | null }
  /** The connection, a status of 5xx, a timeout, no answer in a 200, an answer that broke off. */
  | { readonly kind: "failed" }
  | { readonly kind: "overloaded" | "rate_limited"; readonly retryAfterMs: number | null }
  /** `scope`: the key is no good at all, or not for this model. */
  | { readonly kind: "key_refused"; readonly scope: "key" | "model" }
  | { readonly kind: "out_of_credit" }
  /** The request is at fault, the client left, or the answer is empty. */
  | { readonly kind: "neutral" };

/** How fit a provider is to serve a model, as the planner sees it. */
export interface EndpointHealth {
  readonly state: CircuitState;
  /** Share of attempts that went well, 0 to 1; near 1 where there were few. */
  readonly success: number;
  /** Attempts in the last minute. */
  readonly volume: number;
  /** Medians; null where too little is known. */
  readonly ttftMs: number | null;
  readonly tokensPerS: number | null;
}

/** The same for people. */
export interface EndpointHealthReport {
  readonly state: CircuitState;
  /** Null without attempts. */
  readonly success: number | null;
  readonly volume: number;
  readonly ttftMs: Percentiles | null;
  readonly tokensPerS: Percentiles | null;
}

/** When an attempt belongs where. Milliseconds since the epoch. */
export interface AttemptTimes {
  /** The `now` of its `begin`. */
  readonly beganAt: number;
  /** When the request came. Further attempts of one request are not further requests that met the same. */
  readonly requestedAt: number;
}

/** How long a target is left alone, and why. */
export interface TargetCooldown {
  readonly ms: number;
  readonly why: KeyFailure | "overloaded";
  /** Only the overload is in the way: the target may be asked where there is no other. */
  readonly isOnlyOverload: boolean;
}

/** How providers, their models and keys have fared lately; in the memory of this process. */
export interface Health {
  endpoint(provider: string, model: string, now: number): EndpointHealth;
  /** Null: not set aside. A key that is forgotten early costs one failed attempt. */
  waitMs(target: HealthTarget, now: number): TargetCooldown | null;
  /** An attempt begins; where a circuit is half open it is the probe. */
  begin(target: HealthTarget, now: number): void;
  note(target: HealthTarget, note: AttemptReport, times: AttemptTimes, now: number): void;
  describe(provider: string, model: string, now: number): EndpointHealthReport;
}

const ENDPOINT_BAR: CircuitThreshold = { failures: 5, share: 0.5, inARow: 5 };
/** A provider that is down as a whole is down for all its models: that takes as many failures as open two of them. */
const PROVIDER_BAR: CircuitThreshold = { failures: 10, share: 0.8, inARow: 10 };
/** A single overload is a failure like others. From the second request in a row that meets one, the endpoint is left alone for a while. */
const OVERLOAD_BOUNDS: CooldownBounds = { firstMs: 5_000, maxMs: 30_000 };
/** Attempts that went well, put beside those that were seen: a few failures alone say little. */
const PRIOR = 4;
const MAX_TARGETS = 10_000;
/** How much an endpoint's place among the recently used may lag. Milliseconds. */
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
  readonly provider: string;
  readonly model: string;
  readonly circuit: Circuit;
  readonly ttft: LogHistogram;
  readonly speed: LogHistogram;
  overload: Wait<"overloaded"> | null;
  /** When the last of the overloads in a row was met; null where the last attempt met none. */
  overloadedAt: number | null;
  touchedAt: number;
}

/** An empty memory of at most `maxTargets` endpoints, and as many waits of keys. */
export function createHealth(maxTargets = MAX_TARGETS): Health {
  return new HealthMemory(maxTargets);
}

class HealthMemory implements Health {
  private readonly providers = new Map<string, ProviderState>();
  /** The one noted last stands last. */
  private readonly recent = new Set<EndpointState>();
  private readonly keyWaits: KeyCooldowns;

  constructor(private readonly maxTargets: number) {
    this.keyWaits = new KeyCooldowns(maxTargets);
  }

  endpoint(provider: string, model: string, now: number): EndpointHealth {
    const whole = this.providers.get(provider);
    if (whole === undefined) return UNKNOWN;
    const state = whole.models.get(model);
    if (state === undefined) return { ...UNKNOWN, state: whole.circuit.state(now) };
    const { window } = state.circuit;
    window.age(now);
    const volume = window.successes + window.failures;
    return {
      state: worseOf(whole.circuit.state(now), state.circuit.state(now)),
      success: (window.successes + PRIOR) / (volume + PRIOR),
      volume,
      ttftMs: state.ttft.p50(now),
      tokensPerS: state.speed.p50(now),
    };
  }

  waitMs({ provider, model, keyLabel }: HealthTarget, now: number): TargetCooldown | null {
    const ofKey = this.keyWaits.find(keyLabel, model, now);
    const overload = this.providers.get(provider)?.models.get(model)?.overload ?? null;
    if (overload !== null && overload.until > now && (ofKey === null || ofKey.until < overload.until)) {
      return { ms: overload.until - now, why: overload.why, isOnlyOverload: ofKey === null };
    }
    return ofKey === null ? null : { ms: ofKey.until - now, why: ofKey.why, isOnlyOverload: false };
  }

  begin({ provider, model }: HealthTarget, now: number): void {
    const whole = this.providers.get(provider);
    whole?.circuit.begin(now);
    whole?.models.get(model)?.circuit.begin(now);
  }

  note(target: HealthTarget, note: AttemptReport, times: AttemptTimes, now: number): void {
    const { provider, model, keyLabel } = target;
    const { beganAt, requestedAt } = times;
    const whole = this.openProvider(provider);
    const state = this.openEndpoint(whole, provider, model, now);
    this.noteCircuits(whole.circuit, state, note, beganAt, now);
    switch (note.kind) {
      case "begun":
        state.ttft.add(note.ttftMs, now);
        this.clearWaits(state, keyLabel, beganAt);
        break;
      case "succeeded":
        if (note.tokensPerS !== null) state.speed.add(note.tokensPerS, now);
        this.clearWaits(state, keyLabel, beganAt);
        break;
      case "overloaded":
        recordOverload(state, note.retryAfterMs, requestedAt, now);
        break;
      case "rate_limited":
        this.keyWaits.set(keyLabel, model, { why: note.kind, saidMs: note.retryAfterMs, requestedAt }, now);
        break;
      case "key_refused":
      case "out_of_credit": {
        const ofModel = note.kind === "key_refused" && note.scope === "model";
        const trouble = { why: note.kind, saidMs: null, requestedAt };
        this.keyWaits.set(keyLabel, ofModel ? model : null, trouble, now);
      }
    }
  }

  describe(provider: string, model: string, now: number): EndpointHealthReport {
    const { state, volume } = this.endpoint(provider, model, now);
    const known = this.providers.get(provider)?.models.get(model);
    const successes = known?.circuit.window.successes ?? 0;
    return {
      state,
      success: volume === 0 ? null : successes / volume,
      volume,
      ttftMs: known?.ttft.percentiles(now) ?? null,
      tokensPerS: known?.speed.percentiles(now) ?? null,
    };
  }

  private noteCircuits(
    whole: Circuit,
    { circuit }: EndpointState,
    { kind }: AttemptReport,
    beganAt: number,
    now: number,
  ): void {
    if (kind === "begun") {
      circuit.recordStart(beganAt);
      whole.recordStart(beganAt);
    } else if (kind === "succeeded") {
      circuit.recordSuccess(beganAt, now);
      whole.recordSuccess(beganAt, now);
    } else if (kind === "failed" || kind === "overloaded") {
      // However many fail at one model at once, it takes several models to bring a provider down.
      if (circuit.recordFailure(beganAt, now)) whole.recordFailure(beganAt, now);
    }
    circuit.release(beganAt);
    whole.release(beganAt);
  }

  private clearWaits(state: EndpointState, keyLabel: string, beganAt: number): void {
    this.keyWaits.clear(keyLabel, state.model, beganAt);
    state.overloadedAt = null;
    if (state.overload !== null && beganAt >= state.overload.setAt) state.overload = null;
  }

  private openProvider(provider: string): ProviderState {
    let whole = this.providers.get(provider);
    if (whole === undefined) {
      whole = { circuit: new Circuit(PROVIDER_BAR, provider), models: new Map() };
      this.providers.set(provider, whole);
    }
    return whole;
  }

  private openEndpoint(whole: ProviderState, provider: string, model: string, now: number): EndpointState {
    let state = whole.models.get(model);
    if (state === undefined) {
      state = {
        provider,
        model,
        circuit: new Circuit(ENDPOINT_BAR, `${provider} ${model}`),
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

function recordOverload(state: EndpointState, saidMs: number | null, requestedAt: number, now: number): void {
  const { overloadedAt } = state;
  const isFurther = overloadedAt !== null && requestedAt > overloadedAt;
  if (overloadedAt === null || isFurther) state.overloadedAt = now;
  if (saidMs === null && !isFurther) return;
  state.overload = extendCooldown(
    state.overload,
    { why: "overloaded", saidMs, requestedAt },
    OVERLOAD_BOUNDS,
    now,
  );
}

function worseOf(a: CircuitState, b: CircuitState): CircuitState {
  if (a === "open" || b === "open") return "open";
  return a === "closed" ? b : a;
}
