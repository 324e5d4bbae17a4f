import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type AttemptReport,
  type AttemptTimes,
  createHealth,
  type Health,
  type HealthTarget,
} from "../../src/core/routing/health/health.ts";

const START = 1_700_000_000_000;
const S = 1_000;
const AT: HealthTarget = { provider: "acme", model: "acme/one", keyLabel: "acme#0" };
const WELL: AttemptReport = { kind: "succeeded", tokensPerS: null };
const BADLY: AttemptReport = { kind: "failed" };

/** Returns the times of the first attempt of a request that arrived at a time. */
const from = (at: number): AttemptTimes => ({ beganAt: at, requestedAt: at });

/** Health statistics with a clock. Methods use the target `AT` by default. */
class Scene {
  readonly health: Health;
  now = START;

  constructor(maxTargets?: number) {
    this.health = createHealth(maxTargets);
  }

  /** Records attempts that take no time. */
  go(report: AttemptReport, times = 1, target: HealthTarget = AT): this {
    for (let time = 0; time < times; time++) {
      this.health.begin(target, this.now);
      this.health.record(target, report, { ...from(this.now), now: this.now });
      this.now += 1;
    }
    return this;
  }

  pass(ms: number): this {
    this.now += ms;
    return this;
  }

  state(target: HealthTarget = AT) {
    return this.health.endpoint(target.provider, target.model, this.now).state;
  }

  wait(target: HealthTarget = AT) {
    return this.health.cooldown(target, this.now);
  }

  /** Opens the circuit, and lets it become half open. */
  toHalfOpen(): this {
    this.go(BADLY, 5).pass(5 * S);
    expect(this.state()).toBe("half_open");
    return this;
  }
}

describe("the health of a provider as a whole", () => {
  const OTHER: HealthTarget = { ...AT, model: "acme/two" };
  const first = (ttftMs: number): AttemptReport => ({ kind: "begun", ttftMs });

  test("joins the attempts and latencies of its models", () => {
    const scene = new Scene().go(WELL, 3).go(BADLY).go(WELL, 2, OTHER);
    scene.go(first(100), 9).go(first(1_000), 1, OTHER);
    const { models, volume, failures, success, ttftMs } = scene.health.describeProvider("acme", scene.now);
    expect({ models, volume, failures }).toEqual({
      models: ["acme/one", "acme/two"],
      volume: 6,
      failures: 1,
    });
    expect(success).toBeCloseTo(5 / 6, 10);
    expect(ttftMs?.p50).toBeWithin(90, 110);
    expect(ttftMs?.p99).toBeWithin(900, 1_100);
  });

  test("weighs old latencies of a model as much as that model does", () => {
    const scene = new Scene().go(first(100), 10).pass(1_200_000).go(first(1_000), 3, OTHER);
    expect(scene.health.describeProvider("acme", scene.now).ttftMs?.p50).toBeWithin(900, 1_100);
  });

  test("is unknown after it was forgotten, together with the cooldowns of its keys", () => {
    const scene = new Scene().go(BADLY, 5).go({ kind: "key_refused", scope: "key" }, 1, OTHER);
    expect(scene.health.listKeyCooldowns(AT.keyLabel, scene.now)).toHaveLength(1);
    scene.health.forget("acme", [AT.keyLabel]);
    expect(scene.state()).toBe("closed");
    expect(scene.wait(OTHER)).toBeNull();
    expect(scene.health.describeProvider("acme", scene.now)).toMatchObject({ volume: 0, models: [] });
  });
});

describe("a circuit", () => {
  const cases: readonly (readonly [string, (scene: Scene) => unknown, string])[] = [
    ["is closed without attempts", () => {}, "closed"],
    ["is closed after four failures", (s) => s.go(BADLY, 4), "closed"],
    ["is open after five consecutive failures", (s) => s.go(BADLY, 5), "open"],
    [
      "is open after a thousand successes and five consecutive failures",
      (s) => s.go(WELL, 1_000).go(BADLY, 5),
      "open",
    ],
    [
      "is open after failures of half of ten attempts, never five consecutive ones",
      (s) => {
        for (let i = 0; i < 5; i++) s.go(WELL).go(BADLY);
      },
      "open",
    ],
    [
      "is closed after failures of a third of the attempts, never five consecutive ones",
      (s) => {
        for (let i = 0; i < 50; i++) s.go(WELL, 2).go(BADLY);
      },
      "closed",
    ],
    [
      "is closed after failures over several minutes with successes between them",
      (s) => {
        for (let i = 0; i < 50; i++)
          s.go(BADLY)
            .pass(20 * S)
            .go(WELL)
            .pass(S);
      },
      "closed",
    ],
    [
      "opens after five failures with one minute between them",
      (s) => {
        for (let i = 0; i < 5; i++) s.go(BADLY).pass(60 * S);
      },
      "half_open",
    ],
    [
      "is closed after ten failures with a quarter of an hour between them",
      (s) => {
        for (let i = 0; i < 10; i++) s.go(BADLY).pass(900 * S);
      },
      "closed",
    ],
    ["is closed after a hundred errors of callers", (s) => s.go({ kind: "neutral" }, 100), "closed"],
    [
      "is closed after a hundred rate limits",
      (s) => s.go({ kind: "rate_limited", retryAfterMs: null }, 100),
      "closed",
    ],
    [
      "is closed after a hundred rejected keys",
      (s) => s.go({ kind: "key_refused", scope: "key" }, 100),
      "closed",
    ],
    ["is closed after a hundred keys without credit", (s) => s.go({ kind: "out_of_credit" }, 100), "closed"],
    ["is open after five overloads", (s) => s.go({ kind: "overloaded", retryAfterMs: null }, 5), "open"],
    [
      "is open after five failures with errors of callers between them",
      (s) => s.go(BADLY, 4).go({ kind: "neutral" }, 10).go(BADLY),
      "open",
    ],
    [
      "is open after streams that began and were truncated",
      (s) => {
        for (let i = 0; i < 5; i++) s.go({ kind: "begun", ttftMs: 100 }).go(BADLY);
      },
      "open",
    ],
    ["is half open five seconds after it opened", (s) => s.go(BADLY, 5).pass(5 * S), "half_open"],
    ["is open for others while the probe runs", (s) => s.toHalfOpen().health.begin(AT, s.now), "open"],
    [
      "is half open again if the probe never has an outcome",
      (s) => {
        s.toHalfOpen().health.begin(AT, s.now);
        s.pass(15 * S);
      },
      "half_open",
    ],
    [
      "is half open again if the client of the probe left",
      (s) => s.toHalfOpen().go({ kind: "neutral" }),
      "half_open",
    ],
    [
      "is half open again if the probe was rate limited",
      (s) => s.toHalfOpen().go({ kind: "rate_limited", retryAfterMs: null }),
      "half_open",
    ],
    ["is half open after one successful probe", (s) => s.toHalfOpen().go(WELL), "half_open"],
    ["is closed after two successful probes", (s) => s.toHalfOpen().go(WELL, 2), "closed"],
    ["is open after a successful and a failed probe", (s) => s.toHalfOpen().go(WELL).go(BADLY), "open"],
    [
      "is closed after the first tokens of two probes",
      (s) => s.toHalfOpen().go({ kind: "begun", ttftMs: 50 }, 2),
      "closed",
    ],
    [
      "is open five seconds after a failed probe",
      (s) =>
        s
          .toHalfOpen()
          .go(BADLY)
          .pass(5 * S),
      "open",
    ],
    [
      "is half open ten seconds after a failed probe",
      (s) =>
        s
          .toHalfOpen()
          .go(BADLY)
          .pass(10 * S),
      "half_open",
    ],
    [
      "that was closed by probes stays closed after four failures",
      (s) => s.toHalfOpen().go(WELL, 2).go(BADLY, 4),
      "closed",
    ],
    ["is closed after ten minutes without a probe", (s) => s.toHalfOpen().pass(600 * S), "closed"],
  ];
  test.each(cases)("%s", (_, play, state) => {
    const scene = new Scene();
    play(scene);
    expect(scene.state()).toBe(state as "open");
  });

  test("counts a stream, whose first token and end are reported, as one probe", () => {
    const scene = new Scene().toHalfOpen();
    scene.health.begin(AT, scene.now);
    scene.health.record(AT, { kind: "begun", ttftMs: 10 }, { ...from(scene.now), now: scene.now + 10 });
    scene.health.record(AT, WELL, { ...from(scene.now), now: scene.now + 20 });
    expect(scene.pass(30).state()).toBe("half_open");
  });

  test("is open for longer after each failed probe, up to half a minute", () => {
    const scene = new Scene().go(BADLY, 5);
    const waits = [];
    for (let round = 0; round < 8; round++) {
      let waited = 0;
      for (; scene.state() === "open"; waited += 50) scene.pass(50);
      waits.push(waited);
      scene.go(BADLY);
    }
    const longest = [5, 10, 20, 30, 30, 30, 30, 30];
    waits.forEach((waited, round) => {
      expect(waited).toBeLessThanOrEqual(longest[round]! * S + 50);
      expect(waited).toBeGreaterThanOrEqual(longest[round]! * S * 0.75 - 50);
    });
  });

  test("becomes half open at a time that differs from target to target", () => {
    const scene = new Scene();
    const targets = Array.from({ length: 20 }, (_, at) => ({
      ...AT,
      model: `acme/${at}`,
      provider: `p${at}`,
    }));
    for (const target of targets)
      for (let i = 0; i < 5; i++) scene.health.record(target, BADLY, { ...from(START), now: START });
    const halfOpen = (now: number) =>
      targets.filter(
        (target) => scene.health.endpoint(target.provider, target.model, now).state === "half_open",
      ).length;
    expect(halfOpen(START + 3_700)).toBe(0);
    expect(halfOpen(START + 4_400)).toBeWithin(3, 18);
    expect(halfOpen(START + 5_000)).toBe(20);
  });

  test("ignores attempts that began before it opened", () => {
    const scene = new Scene();
    const before = scene.now;
    scene
      .pass(10)
      .go(BADLY, 5)
      .pass(5 * S);
    for (let i = 0; i < 10; i++) scene.health.record(AT, WELL, { ...from(before), now: scene.now });
    expect(scene.state()).toBe("half_open");
    for (let i = 0; i < 10; i++) scene.health.record(AT, BADLY, { ...from(before), now: scene.now });
    expect(scene.state()).toBe("half_open");
    scene.go(WELL, 2);
    for (let i = 0; i < 100; i++) scene.health.record(AT, BADLY, { ...from(before), now: scene.now });
    expect(scene.state()).toBe("closed");
    expect(scene.health.endpoint(AT.provider, AT.model, scene.now).success).toBe(1);
  });

  test("does not postpone its probe because of a last resort that failed", () => {
    const scene = new Scene().go(BADLY, 5);
    for (let i = 0; i < 30; i++) scene.go(BADLY).pass(99);
    expect(scene.pass(2 * S).state()).toBe("half_open");
  });

  test("closes after successes of requests that used it as a last resort", () => {
    expect(new Scene().go(BADLY, 5).go(WELL, 2).state()).toBe("closed");
  });

  test("of a provider does not open because one model fails", () => {
    const scene = new Scene();
    const other = { ...AT, model: "acme/two" };
    for (let i = 0; i < 20; i++) scene.go(BADLY, 5).go(WELL, 1, other);
    expect(scene.state()).toBe("open");
    expect(scene.state(other)).toBe("closed");
  });

  test("of a provider does not open because a hundred concurrent requests to one model fail", () => {
    const scene = new Scene();
    for (let i = 0; i < 100; i++) scene.health.record(AT, BADLY, { ...from(START), now: START + 10 * S });
    expect(scene.pass(10 * S).state({ ...AT, model: "acme/two" })).toBe("closed");
  });

  test("of a provider that is open is open for models without any attempt", () => {
    const scene = new Scene();
    for (let model = 0; model < 4; model++) scene.go(BADLY, 3, { ...AT, model: `acme/${model}` });
    const unseen = { ...AT, model: "acme/unseen" };
    expect(scene.state(unseen)).toBe("open");
    expect(scene.state({ ...unseen, provider: "other" })).toBe("closed");
    scene.pass(5 * S).go(WELL, 2, unseen);
    expect(scene.state(unseen)).toBe("closed");
  });

  test("never lets two probes through at a time", () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant("begin" as const) }),
      fc.record({ do: fc.constant("pass" as const), ms: fc.integer({ min: 0, max: 4_000 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const scene = new Scene().toHalfOpen();
        let probedAt = Number.NEGATIVE_INFINITY;
        for (const each of steps) {
          if (each.do === "pass") scene.pass(each.ms);
          else if (scene.state() === "half_open") {
            expect(scene.now - probedAt).toBeGreaterThanOrEqual(15 * S);
            scene.health.begin(AT, scene.now);
            probedAt = scene.now;
            expect(scene.state()).toBe("open");
          }
        }
      }),
    );
  });
});

describe("the success rate", () => {
  const success = (scene: Scene) => scene.health.endpoint(AT.provider, AT.model, scene.now).success;

  test("is 1 without attempts, and close to 1 after a single failure", () => {
    expect(success(new Scene())).toBe(1);
    expect(success(new Scene().go(BADLY))).toBe(0.8);
    expect(success(new Scene().go(WELL, 96).go(BADLY, 4))).toBeCloseTo(0.96, 2);
  });

  test("ignores outcomes that are older than a minute", () => {
    const scene = new Scene()
      .go(BADLY, 4)
      .pass(30 * S)
      .go(WELL);
    expect(scene.health.endpoint(AT.provider, AT.model, scene.now).volume).toBe(5);
    scene.pass(31 * S);
    expect(scene.health.endpoint(AT.provider, AT.model, scene.now)).toMatchObject({ success: 1, volume: 1 });
    scene.pass(31 * S);
    expect(scene.health.endpoint(AT.provider, AT.model, scene.now).volume).toBe(0);
  });

  test("comes with a volume that counts the attempts of the last minute, within a slice of five seconds", () => {
    const attempts = fc.array(fc.record({ gapMs: fc.integer({ min: 0, max: 20_000 }), well: fc.boolean() }), {
      maxLength: 80,
    });
    fc.assert(
      fc.property(attempts, (list) => {
        const scene = new Scene();
        const times: number[] = [];
        // At most four consecutive failures, so that no circuit opens, which would clear the window.
        let inARow = 0;
        for (const { gapMs, well } of list) {
          scene.pass(gapMs);
          times.push(scene.now);
          inARow = well ? 0 : inARow + 1;
          scene.go(inARow % 2 === 1 ? BADLY : WELL).go(WELL, 2);
        }
        const count = (ms: number) => 3 * times.filter((at) => at > scene.now - ms).length;
        const { volume } = scene.health.endpoint(AT.provider, AT.model, scene.now);
        expect(volume).toBeLessThanOrEqual(count(60_000));
        expect(volume).toBeGreaterThanOrEqual(count(54_000));
      }),
    );
  });
});

describe("a cooldown", () => {
  const limited = (retryAfterMs: number | null): AttemptReport => ({ kind: "rate_limited", retryAfterMs });
  const overloaded = (retryAfterMs: number | null): AttemptReport => ({ kind: "overloaded", retryAfterMs });
  const rejected: AttemptReport = { kind: "key_refused", scope: "key" };
  const OTHER_KEY = { ...AT, keyLabel: "acme#1" };
  const OTHER_MODEL = { ...AT, model: "acme/two" };

  const cases: readonly (readonly [string, AttemptReport, HealthTarget, number])[] = [
    ["lasts a second after a rate limit", limited(null), AT, 1_000],
    ["after a rate limit does not apply to other keys of the provider", limited(null), OTHER_KEY, 0],
    ["after a rate limit does not apply to other models of the key", limited(null), OTHER_MODEL, 0],
    ["after a rate limit lasts as long as Retry-After says", limited(17_000), AT, 17_000],
    ["lasts a minute if Retry-After is an hour", limited(3_600_000), AT, 60_000],
    ["after an overload lasts as long as Retry-After says", overloaded(3_000), AT, 3_000],
    ["after an overload applies to all keys", overloaded(3_000), OTHER_KEY, 3_000],
    ["after an overload does not apply to other models", overloaded(3_000), OTHER_MODEL, 0],
    ["does not begin after one overload without Retry-After", overloaded(null), AT, 0],
    ["lasts a minute after a rejected key", rejected, AT, 60_000],
    ["after a rejected key applies to all models", rejected, OTHER_MODEL, 60_000],
    ["after a rejected key does not apply to other keys", rejected, OTHER_KEY, 0],
    [
      "lasts a minute for a model for which the key was rejected",
      { kind: "key_refused", scope: "model" },
      AT,
      60_000,
    ],
    [
      "does not apply to other models than the one for which the key was rejected",
      { kind: "key_refused", scope: "model" },
      OTHER_MODEL,
      0,
    ],
    ["lasts a minute for a key without credit", { kind: "out_of_credit" }, OTHER_MODEL, 60_000],
    ["does not begin after a failure", BADLY, AT, 0],
    ["does not begin after an error of the caller", { kind: "neutral" }, AT, 0],
  ];
  test.each(cases)("%s", (_, report, target, ms) => {
    const scene = new Scene().go(report);
    scene.now -= 1;
    expect(scene.wait(target)?.ms ?? 0).toBe(ms);
    expect(scene.pass(ms).wait(target)).toBeNull();
  });

  const growing: readonly (readonly [string, AttemptReport, number[]])[] = [
    ["a rate limit", limited(null), [1, 2, 4, 8, 16, 30, 30]],
    ["a rejected key", rejected, [60, 120, 240, 480, 900, 900]],
    ["a lack of credit", { kind: "out_of_credit" }, [60, 60, 60]],
    ["an overload", overloaded(null), [0, 5, 10, 20, 30, 30]],
  ];
  test.each(growing)("for %s grows each time the trouble occurs again after it", (_, report, seconds) => {
    const scene = new Scene();
    for (const expected of seconds) {
      scene.go(report);
      const waited = scene.wait()?.ms ?? 0;
      expect(Math.ceil(waited / S)).toBe(expected);
      scene.pass(waited);
    }
  });

  test.each(growing)("for %s does not grow because concurrent requests report the same", (_, report) => {
    const scene = new Scene().go(overloaded(null));
    const [together, later] = [scene.now, scene.now + 100];
    for (let i = 0; i < 100; i++) scene.health.record(AT, report, { ...from(together), now: later });
    const once = new Scene().go(overloaded(null));
    once.health.record(AT, report, { ...from(once.now), now: once.now + 100 });
    expect(scene.health.cooldown(AT, later)).toEqual(once.health.cooldown(AT, once.now + 100));
  });

  test.each(growing)("for %s has its first length again after the key was accepted", (_, report) => {
    const scene = new Scene().go(report, 2);
    scene.pass(scene.wait()?.ms ?? 0).go(WELL);
    expect(scene.wait()).toBeNull();
    const first = new Scene().go(report);
    expect(scene.go(report).wait()?.ms).toBe(first.wait()?.ms);
  });

  test("begins at the second consecutive overload, which counts only if it is of a later request", () => {
    const scene = new Scene();
    const requestedAt = scene.now;
    for (let attempt = 0; attempt < 5; attempt++) {
      scene
        .pass(100)
        .health.record(AT, overloaded(null), { beganAt: scene.now, requestedAt, now: scene.now });
      expect(scene.wait()).toBeNull();
    }
    expect(scene.pass(1).go(overloaded(null)).wait()?.why).toBe("overloaded");
  });

  test.each(growing)("for %s does not grow because one request reports it several times", (_, report) => {
    const meet = (attempts: number) => {
      const scene = new Scene().go(report);
      const requestedAt = scene.now;
      let metAt = requestedAt;
      for (let attempt = 0; attempt < attempts; attempt++) {
        metAt += 10;
        scene.health.record(AT, report, { beganAt: metAt, requestedAt, now: metAt });
      }
      const until = metAt + (scene.health.cooldown(AT, metAt)?.ms ?? 0);
      return until - metAt;
    };
    expect(meet(4)).toBeLessThanOrEqual(meet(1));
  });

  test("says whether an overload is its only reason", () => {
    expect(new Scene().go(overloaded(9_000)).wait()).toMatchObject({ mayIgnore: true });
    const limitedToo = new Scene().go(limited(2_000)).go(overloaded(9_000));
    expect(limitedToo.wait()).toMatchObject({ why: "overloaded", mayIgnore: false });
    expect(limitedToo.pass(2_000).wait()).toMatchObject({ why: "overloaded", mayIgnore: true });
  });

  test("does not end because of an attempt that began before it", () => {
    const scene = new Scene();
    const before = scene.now;
    scene.pass(10).go(limited(9_000));
    scene.health.record(AT, WELL, { ...from(before), now: scene.now });
    expect(scene.wait()?.why).toBe("rate_limited");
  });

  test("of key and endpoint is the longer one, with its reason", () => {
    const scene = new Scene().go(limited(2_000)).go({ kind: "out_of_credit" });
    expect(scene.wait()?.why).toBe("out_of_credit");
    expect(scene.go(overloaded(30_000)).wait()?.why).toBe("out_of_credit");
    expect(scene.pass(40_000).go(overloaded(30_000)).wait()?.why).toBe("overloaded");
  });

  test("of a key with two troubles is the longer one", () => {
    const scene = new Scene().go(rejected).pass(60_000).go(rejected).pass(9_999);
    scene.go({ kind: "out_of_credit" });
    expect(scene.wait()).toEqual({ ms: 109_999, why: "key_refused", mayIgnore: false });
    expect(scene.pass(100_000).go({ kind: "out_of_credit" }).wait()?.why).toBe("out_of_credit");
  });

  test("for rate limits never lasts longer than a minute", () => {
    const said = fc.option(fc.integer({ min: 0, max: 10_000_000 }), { nil: null });
    const kinds = fc.constantFrom("rate_limited" as const, "overloaded" as const);
    fc.assert(
      fc.property(fc.array(fc.tuple(kinds, said, fc.integer({ min: 0, max: 90_000 }))), (notes) => {
        const scene = new Scene();
        for (const [kind, retryAfterMs, gapMs] of notes) {
          scene.go({ kind, retryAfterMs });
          expect(scene.wait()?.ms ?? 0).toBeLessThanOrEqual(60_000);
          scene.pass(gapMs);
        }
      }),
    );
  });
});

describe("latency and throughput", () => {
  test("are null below the minimum sample size", () => {
    const scene = new Scene().go({ kind: "begun", ttftMs: 100 });
    expect(scene.health.endpoint(AT.provider, AT.model, scene.now).ttftMs).toBeNull();
    scene.go({ kind: "begun", ttftMs: 100 });
    expect(scene.health.endpoint(AT.provider, AT.model, scene.now).ttftMs).not.toBeNull();
  });

  test("are null if all values are old", () => {
    const scene = new Scene().go({ kind: "begun", ttftMs: 100 }, 20).pass(3_600 * S);
    expect(scene.health.endpoint(AT.provider, AT.model, scene.now).ttftMs).toBeNull();
    expect(scene.health.describe(AT.provider, AT.model, scene.now).ttftMs).toBeNull();
  });

  test("of a provider that becomes slow show it within minutes", () => {
    const scene = new Scene();
    for (let i = 0; i < 600; i++) scene.go({ kind: "begun", ttftMs: 200 }).pass(S);
    for (let i = 0; i < 360; i++) scene.go({ kind: "begun", ttftMs: 5_000 }).pass(S);
    expect(scene.health.endpoint(AT.provider, AT.model, scene.now).ttftMs).toBeGreaterThan(4_500);
  });

  test("have percentiles with an error of at most a tenth", () => {
    const values = fc.array(fc.integer({ min: 11, max: 500_000 }), { minLength: 3, maxLength: 300 });
    fc.assert(
      fc.property(values, (list) => {
        const scene = new Scene();
        for (const ttftMs of list)
          scene.health.record(AT, { kind: "begun", ttftMs }, { ...from(scene.now), now: scene.now });
        const report = scene.health.describe(AT.provider, AT.model, scene.now).ttftMs;
        const sorted = list.toSorted((a, b) => a - b);
        for (const [name, share] of [
          ["p50", 0.5],
          ["p90", 0.9],
          ["p99", 0.99],
        ] as const) {
          const exact = sorted[Math.max(0, Math.ceil(share * sorted.length - 1e-4) - 1)]!;
          expect(Math.abs(report![name] - exact) / exact).toBeLessThanOrEqual(0.1);
        }
      }),
    );
  });

  test("are measured separately", () => {
    const scene = new Scene().go({ kind: "succeeded", tokensPerS: 80 }, 5);
    const { ttftMs, tokensPerS } = scene.health.endpoint(AT.provider, AT.model, scene.now);
    expect(ttftMs).toBeNull();
    expect(tokensPerS).toBeWithin(72, 88);
  });
});

describe("a health memory that is full", () => {
  test("evicts the endpoint without attempts for the longest time first", () => {
    const scene = new Scene(10);
    const target = (at: number) => ({ ...AT, provider: `p${at}` });
    for (let at = 0; at < 10; at++) scene.go(BADLY, 5, target(at));
    scene.pass(6 * S).go(BADLY, 1, target(0));
    scene.go(WELL, 1, target(10));
    expect(scene.state(target(0))).not.toBe("closed");
    expect(scene.state(target(1))).toBe("closed");
    expect(scene.state(target(2))).not.toBe("closed");
  });

  test("evicts the key with the oldest trouble first", () => {
    const scene = new Scene(10);
    const target = (at: number) => ({ ...AT, keyLabel: `k${at}` });
    for (let at = 0; at < 11; at++) scene.go({ kind: "out_of_credit" }, 1, target(at));
    expect(scene.wait(target(0))).toBeNull();
    expect(scene.wait(target(1))).not.toBeNull();
    for (let model = 0; model < 100; model++) {
      scene.go({ kind: "rate_limited", retryAfterMs: 50_000 }, 1, { ...target(20), model: `m${model}` });
    }
    expect(scene.wait(target(5))).toBeNull();
  });
});
