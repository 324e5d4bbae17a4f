import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import type { HookQuestion, HookVerdict } from "../../src/core/extensions/guardrails/text-hook.ts";
import { TextWebhook } from "../../src/telemetry/webhooks/text-webhook.ts";
import { isQuestionSigned, startCheckService } from "../support/gateway/check-service.ts";
import { createTestClock } from "../support/test-clock.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const service = startCheckService();
afterAll(() => service.stop());
beforeEach(() => service.answer(() => ({ action: "allow" })));

const question: HookQuestion = {
  on: "request",
  texts: ["one", "two"],
  about: { generationId: "gen_1", api: "messages", model: "acme/model", accountId: "user_1", keyId: "key_1" },
};

function setUp({ url = service.url, concurrent = 2 } = {}) {
  const clock = createTestClock();
  const logged: Record<string, unknown>[] = [];
  const verdicts: HookVerdict["kind"][] = [];
  const hook = new TextWebhook(
    {
      name: "checks",
      url,
      secret: SECRET,
      headers: { authorization: "Bearer token" },
      timeoutMs: 3_000,
      concurrent,
    },
    {
      clock,
      log: { warn: (_event, fields) => void logged.push(fields ?? {}) },
      onVerdict: (_name, verdict) => verdicts.push(verdict),
    },
  );
  return { hook, clock, logged, verdicts };
}

/** A response that never ends after this text. */
function endless(text: string): Response {
  return new Response(new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from(text)) }));
}

describe("the webhook of a guardrail", () => {
  test("sends texts with what they belong to, signed, and with the headers of the configuration", async () => {
    const { hook } = setUp();
    expect(await hook.check(question)).toEqual({ kind: "allow" });
    const [got] = service.questions;
    expect(got?.body).toEqual({
      guardrail: "checks",
      input_type: "request",
      texts: ["one", "two"],
      generation_id: "gen_1",
      api: "messages",
      model: "acme/model",
      account_id: "user_1",
      key_id: "key_1",
    });
    expect(isQuestionSigned(got!, SECRET)).toBe(true);
    expect(got?.headers.get("authorization")).toBe("Bearer token");
    await hook.check({ ...question, on: "answer" });
    expect(service.questions[1]?.body["input_type"]).toBe("response");
  });

  const VERDICTS: readonly (readonly [unknown, HookVerdict])[] = [
    [{ action: "allow" }, { kind: "allow" }],
    [{ action: "NONE" }, { kind: "allow" }],
    [{ verdict: true }, { kind: "allow" }],
    [
      { action: "block", reason: "Too personal." },
      { kind: "block", reason: "Too personal." },
    ],
    [
      { action: "BLOCKED", blocked_reason: "x".repeat(500) },
      { kind: "block", reason: "x".repeat(200) },
    ],
    [{ verdict: false }, { kind: "block", reason: null }],
    [
      { action: "mask", texts: ["one", "***"] },
      { kind: "mask", texts: new Map([[1, "***"]]) },
    ],
    [
      { action: "mask", texts: [null, "***"] },
      { kind: "mask", texts: new Map([[1, "***"]]) },
    ],
    [
      { action: "GUARDRAIL_INTERVENED", texts: ["1", "2"] },
      {
        kind: "mask",
        texts: new Map([
          [0, "1"],
          [1, "2"],
        ]),
      },
    ],
  ];
  for (const [answer, verdict] of VERDICTS)
    test(`reads ${JSON.stringify(answer).slice(0, 60)} as ${verdict.kind}`, async () => {
      service.answer(() => answer);
      expect(await setUp().hook.check(question)).toEqual(verdict);
    });

  const FAILURES: readonly (readonly [string, () => Response, string])[] = [
    ["HTML", () => new Response("<html>"), "not a JSON object"],
    ["an empty body", () => new Response(null, { status: 204 }), "not a JSON object"],
    ["a list", () => Response.json([]), "not a JSON object"],
    ["no action", () => Response.json({}), "`action` is not"],
    ["an unknown action", () => Response.json({ action: "perhaps" }), "`action` is not"],
    ["a mask without texts", () => Response.json({ action: "mask" }), "not a list of 2"],
    ["a mask with too few texts", () => Response.json({ action: "mask", texts: ["x"] }), "not a list of 2"],
    ["a mask with a number", () => Response.json({ action: "mask", texts: ["x", 1] }), "texts[1] is neither"],
    ["a status of 500", () => new Response("broken", { status: 500 }), "status 500"],
    ["a redirect", () => Response.redirect(`${service.url}/other`), "redirects are not followed"],
    ["too many bytes", () => new Response("x".repeat(100_000)), "the answer has more than"],
  ];
  for (const [what, respond, detail] of FAILURES)
    test(`counts ${what} as no verdict, and logs why without the texts`, async () => {
      service.answer(respond);
      const { hook, logged, verdicts } = setUp();
      expect(await hook.check(question)).toEqual({ kind: "unavailable" });
      expect(service.questions).toHaveLength(1);
      expect(String(logged[0]?.["detail"])).toContain(detail);
      expect(logged[0]).toMatchObject({ guardrail: "checks", generation_id: "gen_1", on: "request" });
      expect(JSON.stringify(logged)).not.toContain("two");
      expect(JSON.stringify(logged)).not.toContain("secret-path");
      expect(verdicts).toEqual(["unavailable"]);
    });

  test("counts a service that cannot be reached as no verdict", async () => {
    const { hook, logged } = setUp({ url: "http://127.0.0.1:1/x" });
    expect(await hook.check(question)).toEqual({ kind: "unavailable" });
    expect(String(logged[0]?.["detail"])).toStartWith("no connection");
  });

  test("gives up a service that does not answer in time, also in the middle of its answer", async () => {
    for (const respond of [() => new Promise<never>(() => {}), () => endless('{"action":')]) {
      service.answer(respond);
      const { hook, clock, logged } = setUp();
      const checking = hook.check(question);
      await service.question(0);
      clock.advance(3_000);
      expect(await checking).toEqual({ kind: "unavailable" });
      expect(logged[0]?.["detail"]).toBe("no answer within 3000 ms");
      expect(clock.pendingTimers).toBe(0);
    }
  });

  test("sends no texts beyond its bound", async () => {
    const { hook, logged } = setUp();
    expect(await hook.check({ ...question, texts: ["x".repeat(1024 * 1024), "y"] })).toEqual({
      kind: "unavailable",
    });
    expect(service.questions).toHaveLength(0);
    expect(String(logged[0]?.["detail"])).toContain("more than 1048576 characters");
  });

  test("sends no more questions at the same time than it may", async () => {
    const gate = Promise.withResolvers<void>();
    service.answer(async () => {
      await gate.promise;
      return { action: "allow" };
    });
    const { hook } = setUp({ concurrent: 2 });
    const first = [hook.check(question), hook.check(question)];
    await service.question(1);
    expect(await hook.check(question)).toEqual({ kind: "unavailable" });
    expect(service.questions).toHaveLength(2);
    gate.resolve();
    expect(await Promise.all(first)).toEqual([{ kind: "allow" }, { kind: "allow" }]);
    expect(await hook.check(question)).toEqual({ kind: "allow" });
  });

  test("does not ask a service for a while that keeps failing, then tries it with one question", async () => {
    service.answer(() => new Response(null, { status: 500 }));
    const { hook, clock } = setUp();
    for (let times = 0; times < 7; times++) await hook.check(question);
    expect(service.questions).toHaveLength(5);
    clock.advance(10_000);
    await hook.check(question);
    await hook.check(question);
    expect(service.questions).toHaveLength(6);
    clock.advance(10_000);
    service.answer(() => ({ action: "allow" }));
    expect(await hook.check(question)).toEqual({ kind: "allow" });
    expect(await hook.check(question)).toEqual({ kind: "allow" });
  });
});
