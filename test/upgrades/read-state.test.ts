import { describe, expect, test } from "bun:test";
import { compareStates, type State } from "./read-state.ts";

const state = (body: unknown) => new Map([["GET /x", { status: 200, body }]]);

describe("compareStates", () => {
  test("finds no difference where the later version adds fields and requests", () => {
    const before: State = state({ data: [{ id: "a", limits: { day: 1 } }] });
    const after: State = state({ data: [{ id: "a", limits: { day: 1, week: null } }], next: null });
    expect(compareStates(before, new Map([...after, ["GET /y", {}]]), [])).toEqual([]);
  });

  test.each([
    ["a changed value", { data: [{ id: "b" }] }, 'GET /x.body.data.0.id: "a" is now "b"'],
    ["a missing field", { data: [{}] }, 'GET /x.body.data.0.id: "a" is now missing'],
    ["a missing row", { data: [] }, 'GET /x.body.data.a: {"id":"a"} is now missing'],
    ["a missing answer", undefined, 'GET /x.body: {"data":[{"id":"a"}]} is now missing'],
  ])("finds %s", (_, body, difference) => {
    expect(compareStates(state({ data: [{ id: "a" }] }), state(body), [])).toEqual([difference]);
  });

  test("leaves out a field that is known to change, and no other", () => {
    const before = state({ id: "a", used_at: 1 });
    const known = [{ at: /used_at$/, why: "reading uses keys" }];
    expect(compareStates(before, state({ id: "a", used_at: 2 }), known)).toEqual([]);
    expect(compareStates(before, state({ id: "b", used_at: 2 }), known)).toHaveLength(1);
  });

  test("leaves out a change from one value, and not one from another", () => {
    const known = [{ at: /p50$/, from: 12, why: "times below 10 ms are told as 12" }];
    expect(compareStates(state({ p50: 12 }), state({ p50: 3 }), known)).toEqual([]);
    expect(compareStates(state({ p50: 13 }), state({ p50: 3 }), known)).toHaveLength(1);
  });

  test("compares the members of lists of other lengths by their ids or names", () => {
    const before = state([{ name: "a", at: 1 }, { name: "b", at: 1 }, { name: "c" }]);
    expect(compareStates(before, state([{ name: "b", at: 2 }, { name: "c" }]), [])).toEqual([
      'GET /x.body.a: {"name":"a","at":1} is now missing',
      "GET /x.body.b.at: 1 is now 2",
    ]);
  });
});
