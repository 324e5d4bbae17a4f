/** Why a key is not used, or not for a model. */
export type KeyTrouble = "key_refused" | "out_of_credit" | "rate_limited";

/** A cooldown, and its reason. */
export interface Cooldown<Why extends string> {
  readonly why: Why;
  readonly until: number;
  /** When it was set. Attempts that began before do not end it. */
  readonly setAt: number;
  /** The length of the cooldown, from which the next one is derived. */
  readonly lengthMs: number;
}

/** Why a cooldown begins. Times in milliseconds since the epoch. */
interface Trouble<Why extends string> {
  readonly why: Why;
  /** The provider's `Retry-After` in milliseconds; null if it sent none. */
  readonly saidMs: number | null;
  /** When the request arrived. */
  readonly requestedAt: number;
  readonly now: number;
}

/** The first and the maximum length of a cooldown. Milliseconds. */
export interface CooldownBounds {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * Returns the cooldown that follows `last`: twice as long if the same trouble occurred again after it. `saidMs`, the wait that the provider
 * asked for, is used within bounds. For two different troubles, returns the cooldown with the later end.
 */
export function extendCooldown<Why extends string>(
  last: Cooldown<Why> | null,
  { why, saidMs, requestedAt, now }: Trouble<Why>,
  { firstMs, maxMs }: CooldownBounds,
): Cooldown<Why> {
  const isSame = last !== null && last.why === why && now < last.until + 2 * maxMs;
  // Concurrent requests, or several attempts of one request, may report the same trouble.
  const isAtOnce = isSame && requestedAt <= last.setAt;
  const nextMs = !isSame ? firstMs : isAtOnce ? last.lengthMs : Math.min(maxMs, 2 * last.lengthMs);
  const lengthMs = saidMs === null ? nextMs : Math.min(saidMs, MAX_SAID_MS);
  if (!isSame && last !== null && last.until > now + lengthMs) return last;
  const until = Math.max(now + lengthMs, isSame ? last.until : 0);
  return { why, until, setAt: isAtOnce ? last.setAt : now, lengthMs: Math.max(lengthMs, firstMs) };
}

/** The maximum `Retry-After` that is used. Milliseconds. */
const MAX_SAID_MS = 60_000;

const BOUNDS: Readonly<Record<KeyTrouble, CooldownBounds>> = {
  key_refused: { firstMs: 60_000, maxMs: 900_000 },
  out_of_credit: { firstMs: 60_000, maxMs: 60_000 },
  rate_limited: { firstMs: 1_000, maxMs: 30_000 },
};

/** A cooldown of a key, for operators. */
export interface KeyCooldownReport {
  /** Id of the model that the key is not used for; null: it is not used at all. */
  readonly model: string | null;
  readonly why: KeyTrouble;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

interface KeyState {
  whole: Cooldown<KeyTrouble> | null;
  readonly models: Map<string, Cooldown<KeyTrouble>>;
}

/** The cooldowns of keys, as a whole or for single models. A key without trouble takes no memory. */
export class KeyCooldowns {
  /** In order of trouble, the most recent last. */
  private readonly keys = new Map<string, KeyState>();
  private count = 0;

  /** `maxCooldowns` is the maximum number of cooldowns. If there are more, the key whose trouble is oldest is evicted. */
  constructor(private readonly maxCooldowns: number) {}

  /** Returns the longer of the cooldowns of a key and of its use with a model; null if there is none. */
  find(label: string, model: string, now: number): Cooldown<KeyTrouble> | null {
    const state = this.keys.get(label);
    if (state === undefined) return null;
    const ofModel = state.models.get(model) ?? null;
    const longer = laterOf(state.whole, ofModel);
    return longer !== null && longer.until > now ? longer : null;
  }

  /** Lists the cooldowns of a key that have not ended, the one of the whole key first. */
  list(label: string, now: number): readonly KeyCooldownReport[] {
    const state = this.keys.get(label);
    if (state === undefined) return [];
    const all = [[null, state.whole] as const, ...state.models];
    return all.flatMap(([model, cooldown]) =>
      cooldown !== null && cooldown.until > now ? [{ model, why: cooldown.why, until: cooldown.until }] : [],
    );
  }

  /** Ends all cooldowns of a key. */
  forget(label: string): void {
    const state = this.keys.get(label);
    if (state === undefined) return;
    this.keys.delete(label);
    this.count -= state.models.size + (state.whole === null ? 0 : 1);
  }

  /** Sets a cooldown. `model` null: for every use of the key. */
  set(label: string, model: string | null, trouble: Trouble<KeyTrouble>): void {
    const state = this.keys.get(label) ?? { whole: null, models: new Map() };
    const last = model === null ? state.whole : (state.models.get(model) ?? null);
    const next = extendCooldown(last, trouble, BOUNDS[trouble.why]);
    if (last === null) this.count += 1;
    if (model === null) state.whole = next;
    else state.models.set(model, next);
    this.keys.delete(label);
    this.keys.set(label, state);
    this.forgetOldest();
  }

  /** Ends cooldowns after an attempt at a model, begun at `beganAt`, for which the provider accepted the key. */
  clear(label: string, model: string, beganAt: number): void {
    const state = this.keys.get(label);
    if (state === undefined) return;
    if (state.whole !== null && beganAt >= state.whole.setAt) {
      state.whole = null;
      this.count -= 1;
    }
    const ofModel = state.models.get(model);
    if (ofModel !== undefined && beganAt >= ofModel.setAt) {
      state.models.delete(model);
      this.count -= 1;
    }
    if (state.whole === null && state.models.size === 0) this.keys.delete(label);
  }

  private forgetOldest(): void {
    while (this.count > this.maxCooldowns) {
      const [oldest] = this.keys;
      if (oldest === undefined) return;
      const [label, { whole, models }] = oldest;
      this.keys.delete(label);
      this.count -= models.size + (whole === null ? 0 : 1);
    }
  }
}

function laterOf<W extends Cooldown<string>>(a: W | null, b: W | null): W | null {
  if (a === null || b === null) return a ?? b;
  return a.until >= b.until ? a : b;
}
