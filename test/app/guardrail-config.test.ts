import { describe, expect, test } from "bun:test";
import { checkConfig } from "../../src/app/config/load-config.ts";

function problemOf(guardrails: string): string {
  try {
    checkConfig(`guardrails:\n  - ${guardrails}`, "gateway.yaml", {});
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

describe("the configuration of guardrails", () => {
  const REJECTED: readonly (readonly [string, string])[] = [
    ['{name: a, kind: regex, action: block, patterns: ["(?=x)"]}', "no lookaround and no backreferences"],
    ['{name: a, kind: regex, action: block, patterns: ["x*"]}', "also matches an empty text"],
    ['{name: a, kind: regex, action: block, patterns: ["(x{1,30}y){30}"]}', "is too large"],
    ["{name: a, kind: regex, action: block, patterns: []}", "patterns"],
    ["{name: a, kind: injection, action: mask}", "must be block or warn"],
    ['{name: a, kind: injection, action: warn, phrases: ["!"]}', "must have a word"],
    ["{name: a, kind: pii, action: warn, on: stream}", "on"],
    ["{name: a, kind: injection, action: warn, on: answer}", "on"],
    ["{name: a, kind: webhook, on_error: block}", "url"],
    ['{name: a, kind: webhook, url: "https://x.example"}', "on_error"],
    ['{name: a, kind: webhook, url: "ftp://x.example", on_error: allow}', "must be an http or https address"],
    ['{name: a, kind: webhook, url: "https://u:p@x.example", on_error: allow}', "user name or password"],
    [
      '{name: a, kind: webhook, url: "https://x.example", on_error: allow, secret: short}',
      "at least 32 characters",
    ],
    ['{name: a, kind: webhook, url: "https://x.example", on_error: allow, action: block}', "action"],
    [
      '{name: a, kind: webhook, url: "https://x.example", on_error: allow, headers: {"a b": c}}',
      "name of a header",
    ],
    ['{name: a, kind: webhook, url: "https://x.example", on_error: allow, timeout_ms: 100000}', "timeout_ms"],
    ["{name: A b, kind: pii, action: warn}", "must be lower-case letters"],
    ["{name: a, kind: pii, action: warn, types: [name]}", "types"],
    ["{name: a, kind: other, action: warn}", "kind"],
    [
      "{name: a, kind: pii, action: warn}\n  - {name: a, kind: pii, action: mask}",
      "is the name of another guardrail",
    ],
  ];
  for (const [text, problem] of REJECTED)
    test(`rejects ${text} with the field and the reason`, () => {
      expect(problemOf(text)).toContain("guardrails.");
      expect(problemOf(text)).toContain(problem);
    });

  test("accepts each kind with its defaults", () => {
    expect(problemOf("{name: a, kind: pii, action: mask}")).toBe("");
    expect(problemOf("{name: a, kind: injection, action: block, models: ['openai/*']}")).toBe("");
    expect(problemOf("{name: a, kind: pii, action: mask, on: both}")).toBe("");
    expect(problemOf("{name: a, kind: webhook, url: 'https://x.example/c', on_error: allow}")).toBe("");
    expect(problemOf("{name: a, kind: regex, action: mask, patterns: ['(?i)x+']}")).toBe("");
  });
});
