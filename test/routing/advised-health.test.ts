import { beforeEach, describe, expect, test } from "bun:test";
import { type AdvisedHealth, createAdvisedHealth } from "../../src/core/routing/health/advised-health.ts";
import { type AttemptReport, createHealth, type HealthTarget } from "../../src/core/routing/health/health.ts";
import { formatHint, type HealthHint, parseHint } from "../../src/core/routing/health/health-hints.ts";

const START = 1_700_000_000_000;
const TARGET: HealthTarget = { provider: "acme", model: "acme/model", keyLabel: "acme#0" };
const OTHER: HealthTarget = { ...TARGET, model: "acme/other" };
const CIRCUIT: HealthHint = { kind: "circuit", provider: "acme", model: "acme/model", forMs: 5_000 };

let sent: HealthHint[];
let health: AdvisedHealth;
let now: number;

beforeEach(() => {
  sent = [];
  now = START;
  health = createAdvisedHealth(createHealth(), (hint) => sent.push(hint));
});

/** Lets an attempt begin and end, and time pass. */
function attempt(report: AttemptReport, target = TARGET): void {
  health.begin(target, now);
  health.record(target, report, { beganAt: now, requestedAt: now, now });
  now += 10;
}

const fail = (times: number, target = TARGET): void => {
  for (let i = 0; i < times; i++) attempt({ kind: "failed" }, target);
};
const stateOf = ({ provider, model }: HealthTarget) => health.endpoint(provider, model, now).state;

describe("what a gateway tells others about vendors", () => {
  test("a circuit that opens is told once, and not while it stays open", () => {
    fail(4);
    expect(sent).toEqual([]);
    fail(3);
    expect(sent).toEqual([CIRCUIT]);
  });

  test("a provider whose models fail is told as a whole", () => {
    for (let i = 0; i < 6; i++) for (const target of [TARGET, OTHER]) attempt({ kind: "failed" }, target);
    expect(sent).toContainEqual({ kind: "circuit", provider: "acme", model: null, forMs: 5_000 });
  });

  test("a key that is limited is told for its model, one without credit for all, with the time that its cooldown lasts", () => {
    attempt({ kind: "rate_limited", retryAfterMs: 7_000 });
    attempt({ kind: "out_of_credit" }, OTHER);
    expect(sent).toEqual([
      { kind: "key", keyLabel: "acme#0", model: "acme/model", why: "rate_limited", forMs: 7_000 },
      { kind: "key", keyLabel: "acme#0", model: null, why: "out_of_credit", forMs: 60_000 },
    ]);
  });

  test("the same hint is sent at most once a second", () => {
    for (let i = 0; i < 20; i++) attempt({ kind: "rate_limited", retryAfterMs: 7_000 });
    expect(sent).toHaveLength(1);
  });
});

describe("the advice of other gateways", () => {
  test("an endpoint that another gateway found broken counts as open for the time of the advice", () => {
    health.advise(CIRCUIT, now);
    expect(stateOf(TARGET)).toBe("open");
    expect(stateOf(OTHER)).toBe("closed");
    now += 5_000;
    expect(stateOf(TARGET)).toBe("closed");
  });

  test("advice about a provider is about all its models", () => {
    health.advise({ ...CIRCUIT, model: null }, now);
    expect([stateOf(TARGET), stateOf(OTHER)]).toEqual(["open", "open"]);
  });

  test("a success that began after the advice ends it, one that began before does not", () => {
    const beganAt = now;
    now += 10;
    health.advise(CIRCUIT, now);
    health.record(TARGET, { kind: "succeeded", tokensPerS: null }, { beganAt, requestedAt: beganAt, now });
    expect(stateOf(TARGET)).toBe("open");
    attempt({ kind: "begun", ttftMs: 100 });
    expect(stateOf(TARGET)).toBe("closed");
  });

  test("own measurements lead: with enough attempts of its own a gateway does not need advice", () => {
    for (let i = 0; i < 5; i++) attempt({ kind: "succeeded", tokensPerS: null });
    health.advise(CIRCUIT, now);
    expect(stateOf(TARGET)).toBe("closed");
  });

  test("a key that cools down elsewhere is skipped, but may be used if there is no other", () => {
    health.advise({ kind: "key", keyLabel: "acme#0", model: null, why: "rate_limited", forMs: 3_000 }, now);
    expect(health.cooldown(TARGET, now)).toEqual({ ms: 3_000, why: "rate_limited", mayIgnore: true });
    attempt({ kind: "rate_limited", retryAfterMs: 9_000 });
    expect(health.cooldown(TARGET, now - 10)).toEqual({ ms: 9_000, why: "rate_limited", mayIgnore: false });
    now += 60_000;
    expect(health.cooldown(TARGET, now)).toBeNull();
  });

  test("the memory of advice is bounded", () => {
    for (let i = 0; i < 5_000; i++) health.advise({ ...CIRCUIT, model: `acme/${i}` }, now);
    expect(stateOf({ ...TARGET, model: "acme/0" })).toBe("closed");
    expect(stateOf({ ...TARGET, model: "acme/4999" })).toBe("open");
  });
});

describe("a message between gateways", () => {
  test("is understood by other gateways and ignored by its sender", () => {
    expect(parseHint(formatHint("gw_a", CIRCUIT), "gw_b")).toEqual(CIRCUIT);
    expect(parseHint(formatHint("gw_a", CIRCUIT), "gw_a")).toBeNull();
  });

  test("holds no longer than the bound, whatever it says", () => {
    expect(parseHint(formatHint("gw_a", { ...CIRCUIT, forMs: 1e9 }), "gw_b")?.forMs).toBe(10_000);
  });

  test("is ignored if it is not understood", () => {
    const messages = [
      "",
      "[1]",
      "null",
      '{"kind":"later","forMs":5}',
      '{"kind":"circuit","provider":7,"forMs":5}',
      '{"kind":"circuit","provider":"acme","forMs":-5}',
      '{"kind":"key","keyLabel":"k","why":"bored","forMs":5}',
      `{"kind":"circuit","provider":"${"x".repeat(2_000)}","forMs":5}`,
    ];
    for (const message of messages) expect(parseHint(message, "gw_b")).toBeNull();
  });
});
