import { describe, expect, test } from "bun:test";
import { countEnds, countFinishes } from "./answers/count-ends.ts";
import { FEATURES } from "./answers/features.ts";
import { goldenAnswer } from "./answers/golden-answers.ts";
import { type AnswerRun, readBack, runFeature } from "./answers/run-answers.ts";
import { summarise } from "./answers/summarise.ts";
import { VENDORS } from "./answers/vendors.ts";
import { readGolden } from "./golden.ts";

const RUNS: readonly (readonly [string, AnswerRun])[] = FEATURES.flatMap((feature) =>
  runFeature(feature).map((run) => [`${feature.name}, ${run.format} to ${run.client}`, run] as const),
);
const BREAKING = new Set(["an error in the middle", "a stream that breaks off"]);

function isBreaking(run: string): boolean {
  return BREAKING.has(run.slice(0, run.lastIndexOf(",")));
}

describe.each(FEATURES.map((feature) => [feature.name, feature] as const))("%s", (_name, feature) => {
  const runs = runFeature(feature);

  test("reaches every client that has a place for it", () => {
    const lost = runs.filter(({ verdict }) => verdict === "LOST");
    expect(lost).toEqual([]);
  });

  test("arrives as it did (npm run fidelity-table)", () => {
    const golden = goldenAnswer(feature, runs);
    expect(golden.text).toBe(readGolden(golden) ?? "");
  });

  test("is said by a vendor, and excused only where it has to be", () => {
    expect(runs.length).toBeGreaterThan(0);
    const excused = new Set<string>(
      runs.filter(({ verdict }) => verdict === "needless").map(({ client }) => client),
    );
    expect(Object.keys(feature.needless ?? {}).filter((client) => !excused.has(client))).toEqual([]);
  });
});

test("vendors say only what is asked here", () => {
  const known = new Set(FEATURES.map(({ name }) => name));
  const said = Object.values(VENDORS).flatMap((sayings) => Object.keys(sayings));
  expect(said.filter((name) => !known.has(name))).toEqual([]);
});

describe("every stream", () => {
  test.each(RUNS)("ends once, at its end: %s", (name, { client, stream }) => {
    expect(countEnds(client, stream)).toEqual({ ends: 1, isLast: true });
    // A stream that broke has an error in place of a finish.
    if (client === "chat")
      expect(new Set(countFinishes(stream))).toEqual(new Set([isBreaking(name) ? 0 : 1]));
  });

  test.each(RUNS.filter(([name]) => !isBreaking(name)))(
    "says what the whole answer says: %s",
    (_name, run) => {
      const { whole, streamed } = readBack(run.client, run);
      expect(whole).not.toBeNull();
      if (whole !== null) expect(summarise(streamed)).toEqual(summarise(whole));
    },
  );
});
