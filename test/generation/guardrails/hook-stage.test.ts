import { describe, expect, test } from "bun:test";
import { AnswerChecks } from "../../../src/core/extensions/guardrails/answer-checks.ts";
import { HookStage } from "../../../src/core/extensions/guardrails/hook-stage.ts";
import {
  type HookQuestion,
  type HookVerdict,
  MAX_HOOK_CHARS,
} from "../../../src/core/extensions/guardrails/text-hook.ts";
import { collectAnswer } from "../../../src/wire/canonical/answer/collect-answer.ts";
import type { AnswerEvent } from "../../../src/wire/canonical/model/answer.ts";

const ABOUT = { generationId: "gen_1", api: "messages", model: "acme/model", accountId: null, keyId: null };

function setUp(onError: "allow" | "block", verdict: HookVerdict | Error = { kind: "allow" }) {
  const questions: HookQuestion[] = [];
  const hook = {
    check(question: HookQuestion) {
      questions.push(question);
      return verdict instanceof Error ? Promise.reject(verdict) : Promise.resolve(verdict);
    },
  };
  const scope = { accounts: null, keys: null, teams: null, models: null };
  const guardrail = { kind: "hook", name: "x", on: "answer", scope, hook, onError, stream: "hold" } as const;
  return { checks: new AnswerChecks([new HookStage(guardrail, ABOUT, false)]), questions };
}

function start(at: number): AnswerEvent {
  return { kind: "part-start", choice: 0, at, part: { kind: "text", text: "" } };
}

function delta(at: number, text: string): AnswerEvent {
  return { kind: "part-delta", choice: 0, at, delta: { kind: "text", text } };
}

describe("a webhook that holds an answer back", () => {
  test("is asked once about the joined pieces of each text, and what it allows is the same answer", async () => {
    const { checks, questions } = setUp("block");
    const events = [
      start(0),
      delta(0, "a"),
      delta(0, "b"),
      start(1),
      delta(1, "c"),
      delta(0, "d"),
      delta(1, "e"),
    ];
    for (const event of events) expect(checks.step(event)).toEqual([]);
    const released = (await checks.release?.()) ?? [];
    expect(questions.map(({ texts }) => texts)).toEqual([["abd", "ce"]]);
    expect(collectAnswer(released)).toEqual(collectAnswer(events));
  });

  const PIECE = "x".repeat(1_000);
  const PIECES = Math.ceil(MAX_HOOK_CHARS / PIECE.length) + 10;

  test("is not asked about an answer beyond the bound, which passes if on_error is allow", async () => {
    const { checks, questions } = setUp("allow");
    const sent = [...checks.step(start(0))];
    for (let at = 0; at < PIECES; at++) sent.push(...checks.step(delta(0, PIECE)));
    expect(collectAnswer(sent).choices[0]?.parts[0]).toMatchObject({ text: PIECE.repeat(PIECES) });
    expect(await checks.release?.()).toEqual([]);
    expect(questions).toEqual([]);
    expect(checks.listWarnings()).toMatchObject([
      { message: 'The guardrail "x" could not check the answer.' },
    ]);
  });

  test("ends an answer beyond the bound as soon as it is reached if on_error is block", () => {
    const { checks } = setUp("block");
    checks.step(start(0));
    let pieces = 0;
    while (checks.block === null) {
      expect(checks.step(delta(0, PIECE))).toEqual([]);
      pieces += 1;
    }
    expect(pieces).toBe(Math.floor(MAX_HOOK_CHARS / PIECE.length) + 1);
    expect(checks.block).toMatchObject({ code: "unavailable" });
  });

  test("does not hold back events without end that have no text", () => {
    const { checks } = setUp("block");
    let events = 0;
    for (; checks.block === null; events++) checks.step(start(events));
    expect(events).toBe(50_001);
  });

  test("lets nothing pass if asking fails because of a fault of the gateway", async () => {
    const { checks } = setUp("allow", new Error("a fault"));
    checks.step(start(0));
    checks.step(delta(0, "x"));
    expect(await checks.release?.()).toEqual([]);
    expect(checks.block).not.toBeNull();
  });
});
