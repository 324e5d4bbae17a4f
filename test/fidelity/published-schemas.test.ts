import { describe, expect, test } from "bun:test";
import { asFields } from "../../src/base/json/fields.ts";
import { eventSchemaOf } from "../support/clients/published-events.ts";
import { PUBLISHED_SCHEMAS } from "../support/vendors/published-schemas.ts";
import { FEATURES } from "./answers/features.ts";
import { readEvents } from "./answers/fold.ts";
import { runFeature } from "./answers/run-answers.ts";

/** A stop reason of Anthropic that is newer than the list is passed on to clients of Anthropic's own API. */
const NEWER = "vendor's own finish reason, anthropic-messages to messages";

/** Streams that end with an error event. */
const BREAKING = /^(error in the middle of the stream|incomplete stream),/;

const RUNS = FEATURES.flatMap((feature) =>
  runFeature(feature).map((run) => [`${feature.name}, ${run.format} to ${run.client}`, run] as const),
);

/** Lists where an answer differs from what libraries of its client API validate. */
function listProblems(client: keyof typeof PUBLISHED_SCHEMAS, answer: unknown): string[] {
  const { error } = PUBLISHED_SCHEMAS[client].safeParse(answer);
  return (error?.issues ?? []).map(({ path, message }) => `${path.join(".")}: ${message}`);
}

describe("client libraries that validate accept the answer", () => {
  test.each(RUNS.filter(([name]) => name !== NEWER))("%s, whole", (_name, { client, whole }) => {
    expect(whole === null ? [] : listProblems(client, whole)).toEqual([]);
  });

  test.each(RUNS.filter(([name]) => name !== NEWER && !BREAKING.test(name)))(
    "%s, in each event of its stream",
    (_name, { client, stream }) => {
      const wrong = readEvents(stream).flatMap((event) => {
        const { error } = eventSchemaOf(client, event["type"]).safeParse(event);
        return error === undefined ? [] : [{ event, issues: error.issues }];
      });
      expect(wrong).toEqual([]);
    },
  );

  test.each(RUNS.filter(([, { client }]) => client === "responses"))(
    "%s, in the last event of its stream",
    (_name, { client, stream }) => {
      const last = asFields(readEvents(stream).at(-1)) ?? {};
      const isEnded = last["type"] === "response.completed" || last["type"] === "response.incomplete";
      expect(isEnded ? listProblems(client, last["response"]) : []).toEqual([]);
    },
  );
});
