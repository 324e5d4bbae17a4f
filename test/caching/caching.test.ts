import { describe, expect, test } from "bun:test";
import { IS_LONG_RUN } from "../support/long-run.ts";
import { makeClasses } from "./conversations.ts";
import { findBroken } from "./expect.ts";
import { changeOf, measureClasses } from "./measure.ts";

const QUICK = ["short agents", "single questions"];

describe("marks for vendors' caches", () => {
  test.skipIf(!IS_LONG_RUN)(
    "save half of what agents' prompts cost, and nothing of what single questions cost",
    async () => {
      const classes = makeClasses(1).filter(({ name }) => QUICK.includes(name));
      const costs = await measureClasses(classes);
      expect(findBroken(costs)).toEqual([]);
      expect(costs.map(({ name }) => name)).toEqual(QUICK);
      expect(costs.map((cost) => Math.sign(changeOf(cost)))).toEqual([-1, 0]);
    },
  );

  test("that cost more than they save are reported", () => {
    const cost = { name: "x", isAgent: false, requests: 1, plain: 100, marked: 103 };
    expect(findBroken([cost])).toEqual(["x: cost 3.0 % more"]);
    expect(findBroken([{ ...cost, isAgent: true, marked: 60 }])).toEqual(["x: save only 40.0 %"]);
  });
});
