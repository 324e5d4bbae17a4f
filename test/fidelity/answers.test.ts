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
const BREAKING = new Set(["error in the middle of the stream", "incomplete stream"]);

function isBreaking(run: string): boolean {
  return BREAKING.has(run.slice(0, run.lastIndexOf(",")));
}

describe.each(FEATURES.map((feature) => [feature.name, feature] as const))(
  "the answer feature '%s'",
  (_name, feature) => {
    const runs = runFeature(feature);

    test("reaches every client API that can express it", () => {
      const lost = runs.filter(({ verdict }) => verdict === "LOST");
      expect(lost).toEqual([]);
    });

    test("has the stored result (npm run generate)", () => {
      const golden = goldenAnswer(feature, runs);
      expect(golden.text).toBe(readGolden(golden) ?? "");
    });

    test("is sent by some vendor, and has no unnecessary excuse", () => {
      expect(runs.length).toBeGreaterThan(0);
      const excused = new Set<string>(
        runs.filter(({ verdict }) => verdict === "needless").map(({ client }) => client),
      );
      expect(Object.keys(feature.needless ?? {}).filter((client) => !excused.has(client))).toEqual([]);
    });
  },
);

test("the scripted vendors send only listed answer features", () => {
  const known = new Set(FEATURES.map(({ name }) => name));
  const sent = Object.values(VENDORS).flatMap((features) => Object.keys(features));
  expect(sent.filter((name) => !known.has(name))).toEqual([]);
});

describe("the stream of an answer feature", () => {
  test.each(RUNS)("has one end, as its last event: %s", (name, { client, stream }) => {
    expect(countEnds(client, stream)).toEqual({ ends: 1, isLast: true });
    // An incomplete stream has an error in place of a finish.
    if (client === "chat")
      expect(new Set(countFinishes(stream))).toEqual(new Set([isBreaking(name) ? 0 : 1]));
  });

  test.each(RUNS.filter(([name]) => !isBreaking(name)))(
    "has the same content as the whole answer: %s",
    (_name, run) => {
      const { whole, streamed } = readBack(run.client, run);
      expect(whole).not.toBeNull();
      if (whole !== null) expect(summarise(streamed)).toEqual(summarise(whole));
    },
  );
});
