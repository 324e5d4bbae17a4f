import { describe, expect, test } from "bun:test";
import { CLIENTS, FORMATS } from "./formats.ts";
import { readGolden } from "./golden.ts";
import { openRequest } from "./open-request.ts";
import { REQUEST_CASES } from "./requests/cases.ts";
import { goldenRequest } from "./requests/golden-requests.ts";
import { makeBody } from "./requests/request-case.ts";
import { runRequest } from "./requests/run-requests.ts";
import { makeTarget } from "./targets.ts";

describe.each(REQUEST_CASES)("a request of the group '%s'", (_title, cases) => {
  test.each(cases.map((one) => [one.name, one] as const))(
    "keeps the feature '%s', or names it in a warning or error",
    (_name, one) => {
      const runs = runRequest(one);
      const lost = runs.filter(({ verdict }) => verdict === "LOST");
      expect(lost.map(({ client, format, sent }) => ({ client, format, sent }))).toEqual([]);
    },
  );

  test.each(cases.map((one) => [one.name, one] as const))(
    "has the stored result for the feature '%s' (npm run generate)",
    (_name, one) => {
      const golden = goldenRequest(one, runRequest(one));
      expect(golden.text).toBe(readGolden(golden) ?? "");
    },
  );

  test.each(cases.map((one) => [one.name, one] as const))(
    "has no unnecessary excuse for the feature '%s'",
    (_name, one) => {
      const verdicts = runRequest(one).filter(({ verdict }) => verdict === "needless");
      const excused = new Set(verdicts.map(({ format }) => format));
      expect(Object.keys(one.needless ?? {}).filter((format) => !excused.has(format as never))).toEqual([]);
    },
  );
});

test("every request case has a unique name", () => {
  const names = REQUEST_CASES.flatMap(([, cases]) => cases.map(({ name }) => name));
  expect(new Set(names).size).toBe(names.length);
});

describe("a minimal request", () => {
  test.each(CLIENTS.flatMap((client) => FORMATS.map((format) => [client, format] as const)))(
    "is translated from %s to %s without a warning",
    (client, format) => {
      const { warnings } = openRequest(client, makeBody(client, {})).encoding.encode(makeTarget(format));
      expect(warnings).toEqual([]);
    },
  );
});
