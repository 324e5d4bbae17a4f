import { describe, expect, test } from "bun:test";
import { addOwnWarnings, recordWork } from "../../src/core/usage/records/work-record.ts";

const warning = { field: "tools[3].parameters.diagnosis", message: 'The tool "cancer" was left out.' };
const RETAINED = { zeroRetention: false };

describe("the record of what was changed", () => {
  test("is absent if nothing was", () => {
    expect(recordWork({ repairs: null, warnings: [] }, RETAINED)).toBeUndefined();
  });

  test("has at most 20 warnings of 200 characters, in one line each", () => {
    const long = { field: "a".repeat(300), message: `first line\n${"b".repeat(300)}` };
    const work = recordWork({ repairs: null, warnings: Array(30).fill(long) }, RETAINED);
    expect(work?.warnings).toHaveLength(20);
    expect(work?.warnings?.[0]?.field).toBe(`${"a".repeat(199)}…`);
    expect(work?.warnings?.[0]?.message).toBe(`first line ${"b".repeat(188)}…`);
  });

  test("has only valid characters, also where one is cut in two", () => {
    const warnings = [{ field: "a\u0000b", message: `${"c".repeat(198)}😀😀` }];
    const [recorded] = recordWork({ repairs: null, warnings }, RETAINED)?.warnings ?? [];
    expect(recorded?.field).toBe("a b");
    expect(recorded?.message?.isWellFormed()).toBe(true);
  });

  test("names only the fields under zero data retention", () => {
    const work = recordWork({ repairs: null, warnings: [warning] }, { zeroRetention: true });
    expect(work?.warnings).toEqual([{ field: "tools", message: null }]);
  });

  test("has a warning of the end of the answer among its 20", () => {
    const full = recordWork({ repairs: null, warnings: Array(20).fill(warning) }, RETAINED);
    const end = { field: "max_tokens", message: "The answer ends here." };
    for (const work of [addOwnWarnings(undefined, [end]), addOwnWarnings(full, [end])]) {
      expect(work.warnings?.at(-1)).toEqual(end);
      expect(work.warnings?.length).toBeLessThanOrEqual(20);
    }
  });
});
