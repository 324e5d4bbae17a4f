import { describe, expect, test } from "bun:test";
import { listItems, pathOfId } from "../../../src/console/state/palette-items.ts";

const lists = {
  screens: [
    { value: "/console/keys", label: "Keys" },
    { value: "/console/models", label: "Models" },
  ],
  views: [{ value: "/console/keys?unused=30d", label: "Unused keys" }],
  models: [
    { value: "openai/gpt-5-nano", label: "openai/gpt-5-nano" },
    { value: "gateway-auto/free", label: "gateway-auto/free" },
  ],
  keys: [{ value: "key_1", label: "free trial" }],
  accounts: [{ value: "org_1", label: "Northwind" }],
};

describe("the command palette", () => {
  test("it lists the screens until something is typed", () => {
    expect(listItems(" ", lists)).toEqual(lists.screens);
  });

  test("it finds screens, models, tiers, keys and accounts by name, each with the path of its page", () => {
    const paths = (typed: string) => listItems(typed, lists).map(({ value }) => value);
    expect(paths("key")).toEqual(["/console/keys", "/console/keys?unused=30d", "/console/keys/key_1"]);
    expect(paths("nano")).toEqual(["/console/models/openai/gpt-5-nano"]);
    expect(paths("free")).toEqual(["/console/routing?tier=gateway-auto%2Ffree", "/console/keys/key_1"]);
    expect(paths("northwind")).toEqual(["/console/people/org_1"]);
    expect(paths("nothing like it")).toEqual([]);
  });

  test("the name of an account with that of a tab leads to the tab", () => {
    const paths = (typed: string) => listItems(typed, lists).map(({ value }) => value);
    expect(paths("northwind pol")).toEqual(["/console/people/org_1?tab=policy"]);
    expect(paths("northwind x")).toEqual([]);
  });

  test("the id of a generation leads to its request, and then to its kept response", () => {
    expect(listItems("gen_1", lists).map(({ value }) => value)).toEqual([
      "/console/requests/gen_1",
      "/console/responses/gen_1",
    ]);
  });

  test("it shows a bounded number of items", () => {
    const models = Array.from({ length: 60 }, (_, i) => ({ value: `a/m${i}`, label: `a/m${i}` }));
    expect(listItems("a/m", { ...lists, models })).toHaveLength(12);
  });

  test("an id leads to its page, and a text that is none does not", () => {
    const ids = ["gen_1", "req_1", "conv_1", "items_1", "key_1", "org_1", "user_1", "acct_default"];
    expect(ids.map((id) => pathOfId(id)?.value)).toEqual([
      "/console/requests/gen_1",
      "/console/requests/req_1",
      "/console/responses/conv_1",
      "/console/responses/items_1",
      "/console/keys/key_1",
      "/console/people/org_1",
      "/console/people/user_1",
      "/console/people/acct_default",
    ]);
    expect(["gen", "gen_1/..", "sess_1", "hello world"].map(pathOfId)).toEqual([null, null, null, null]);
  });
});
