import { describe, expect, test } from "bun:test";
import { CLIENTS, FORMATS } from "./formats.ts";
import { readGolden } from "./golden.ts";
import { openRequest } from "./open-request.ts";
import { REQUEST_CASES } from "./requests/cases.ts";
import { goldenRequest } from "./requests/golden-requests.ts";
import { makeBody } from "./requests/request-case.ts";
import { runRequest } from "./requests/run-requests.ts";
import { makeTarget } from "./targets.ts";

describe.each(REQUEST_CASES)("%s", (_title, cases) => {
  test.each(cases.map((one) => [one.name, one] as const))(
    "%s: nothing is lost without a word",
    (_name, one) => {
      const runs = runRequest(one);
      const lost = runs.filter(({ verdict }) => verdict === "LOST");
      expect(lost.map(({ client, format, sent }) => ({ client, format, sent }))).toEqual([]);
    },
  );

  test.each(cases.map((one) => [one.name, one] as const))(
    "%s: goes out as it did (npm run fidelity-table)",
    (_name, one) => {
      const golden = goldenRequest(one, runRequest(one));
      expect(golden.text).toBe(readGolden(golden) ?? "");
    },
  );

  test.each(cases.map((one) => [one.name, one] as const))("%s: excuses only what needs it", (_name, one) => {
    const verdicts = runRequest(one).filter(({ verdict }) => verdict === "needless");
    const excused = new Set(verdicts.map(({ format }) => format));
    expect(Object.keys(one.needless ?? {}).filter((format) => !excused.has(format as never))).toEqual([]);
  });
});

test("every case has a name of its own", () => {
  const names = REQUEST_CASES.flatMap(([, cases]) => cases.map(({ name }) => name));
  expect(new Set(names).size).toBe(names.length);
});

describe("a request that says nothing but hello", () => {
  test.each(CLIENTS.flatMap((client) => FORMATS.map((format) => [client, format] as const)))(
    "goes from %s to %s without a warning",
    (client, format) => {
      const { warnings } = openRequest(client, makeBody(client, {})).encode(makeTarget(format));
      expect(warnings).toEqual([]);
    },
  );
});
