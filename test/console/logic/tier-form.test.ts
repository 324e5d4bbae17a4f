import { describe, expect, test } from "bun:test";
import {
  changeCase,
  findMissing,
  fromDraft,
  listCases,
  NEW_TIER,
  printSource,
  readModels,
  switchForm,
  type TierInput,
  toDraft,
} from "../../../src/console/screens/routing/tier-form.ts";

const byHeader: TierInput = {
  name: "Ours",
  description: "",
  rule: {
    by: "header",
    header: "x-mode",
    cases: [{ values: ["plan", "ask"], pick: { models: ["a/b"] } }],
    else: { models: ["a/c"], verbosity: "low" },
  },
};

describe("the form of a tier", () => {
  test("a tier is the same after the form, and after a switch to JSON and back", () => {
    const draft = toDraft("gateway-auto/ours", byHeader);
    expect(draft.id).toBe("ours");
    expect(fromDraft(draft)).toEqual({ tier: byHeader });
    const json = switchForm(draft);
    if ("problem" in json) throw new Error(json.problem);
    expect(json.isJson).toBe(true);
    expect(fromDraft(json)).toEqual({ tier: byHeader });
    const form = switchForm(json);
    expect("problem" in form || form.isJson).toBe(false);
  });

  test("JSON that cannot be read, or that is no tier, is refused with the reason", () => {
    const draft = { ...toDraft("", NEW_TIER), isJson: true };
    const problems = ["{", "null", "[]", '{"name":"a"}'].map((json) => fromDraft({ ...draft, json }));
    expect(problems.every((read) => "problem" in read)).toBe(true);
  });

  test("each case of a rule can be changed and keeps the others", () => {
    const pick = { models: ["x/y"] };
    const cases = listCases(byHeader.rule);
    expect(cases.map(({ id, when }) => [id, when])).toEqual([
      ["0", "if x-mode is plan, ask"],
      ["else", "otherwise"],
    ]);
    expect(listCases(changeCase(byHeader.rule, "0", pick)).map((one) => one.pick)).toEqual([
      pick,
      { models: ["a/c"], verbosity: "low" },
    ]);
    const byApi: TierInput["rule"] = { by: "api", cases: { responses: { models: [] } }, else: pick };
    expect(listCases(changeCase(byApi, "responses", pick)).map(({ id }) => id)).toEqual([
      "responses",
      "else",
    ]);
    expect(listCases(changeCase(NEW_TIER.rule, "paid", pick))[0]?.pick).toEqual(pick);
    expect(listCases({ by: "free", except: [], last: [] })).toEqual([]);
  });

  test("what a draft lacks is named until it can be sent", () => {
    const draft = toDraft("gateway-auto/ours", byHeader);
    const missingIn = (change: object) => findMissing({ ...draft, ...change });
    expect(missingIn({})).toBeNull();
    expect(missingIn({ id: "Ours" })).toContain("Enter an id");
    expect(missingIn({ name: " " })).toBe("Enter a name.");
    expect(findMissing({ ...toDraft("a", { ...NEW_TIER, name: "A" }) })).toContain("with a positive balance");
    expect(missingIn({ rule: { ...byHeader.rule, else: { models: ["gpt"] } } })).toContain("gpt is not");
    const json = (value: object) => missingIn({ isJson: true, json: JSON.stringify(value) });
    expect(json(byHeader)).toBeNull();
    expect(json({ ...byHeader, rule: {} })).toContain("rule");
    expect(json({ ...byHeader, rule: { by: "header", header: "x", cases: 1 } })).toContain("rule");
    expect(missingIn({ isJson: true, json: "{" })).toContain("not valid JSON");
  });

  test("models are read from lines and commas, and a source is printed as file and line", () => {
    expect(readModels(" a/b \n\n c/d, e/f")).toEqual(["a/b", "c/d", "e/f"]);
    expect(printSource({ file: "/etc/gateway.yaml", line: 10 })).toBe("gateway.yaml:10");
    expect(printSource({ file: null, line: null })).toBeNull();
  });
});
