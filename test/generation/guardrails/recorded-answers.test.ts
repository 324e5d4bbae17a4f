import { describe, expect, test } from "bun:test";
import { AnswerChecks } from "../../../src/core/extensions/guardrails/answer-checks.ts";
import { compilePattern, type Pattern } from "../../../src/core/extensions/guardrails/find-patterns.ts";
import { Masks } from "../../../src/core/extensions/guardrails/masks.ts";
import { createPatternSearches } from "../../../src/core/extensions/guardrails/search-patterns.ts";
import { SearchStage } from "../../../src/core/extensions/guardrails/search-stage.ts";
import { collectAnswer } from "../../../src/wire/canonical/answer/collect-answer.ts";
import { createNormaliser } from "../../../src/wire/canonical/answer/normalise-answer.ts";
import type { Answer, AnswerEvent } from "../../../src/wire/canonical/model/answer.ts";
import type { FormatName } from "../../../src/wire/conversation/traits/format-name.ts";
import { UPSTREAM_CODECS } from "../../../src/wire/formats/codecs.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { checkEvents, readPieces } from "../../support/vendors/answer-events.ts";
import { OPENAI_CHAT_FOLDERS, readStreams } from "../../support/vendors/recordings.ts";

const FOLDERS: readonly (readonly [string, FormatName])[] = [
  ...OPENAI_CHAT_FOLDERS.map((folder) => [folder, "openai-chat"] as const),
  ["openai-responses", "openai-responses"],
  ["anthropic", "anthropic-messages"],
  ["google", "gemini"],
  ["cohere", "cohere-chat"],
];

/** Matches in most words, also at their ends, so that the ends of events are in matches. */
const PATTERN = "[aeiou]+[b-df-hj-np-tv-z]+|[.,]";
const MASK = /\[[A-Z]+_\d+\]/g;

function createChecks(action: "mask" | "warn" | "block"): AnswerChecks {
  const beginSearch = createPatternSearches([compilePattern(PATTERN) as Pattern], "X");
  const scope = { accounts: null, keys: null, teams: null, models: null };
  const find = async () => [];
  const guardrail = { kind: "search", name: "x", on: "answer", scope, action, find, beginSearch } as const;
  return new AnswerChecks([new SearchStage(guardrail, new Masks())]);
}

/** Returns the normalised events of a recording that is split at random. */
function readEvents(format: FormatName, text: string): AnswerEvent[] {
  const random = createSeededRandom(text.length);
  const bytes = Buffer.from(text).toString("latin1");
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = 1 + random.below(400);
    pieces.push(bytes.slice(at, at + length));
    at += length;
  }
  const normaliser = createNormaliser({ originalIds: null, makeCallId: () => "call_made" });
  return readPieces(UPSTREAM_CODECS[format].createReader(), pieces).flatMap((event) =>
    normaliser.step(event),
  );
}

function maskText(text: string): string {
  return text.replace(new RegExp(PATTERN, "g"), "[X]");
}

/** The parts as a client sees them, with masks without their numbers. */
function partsOf({ choices }: Answer, change: (text: string) => string): unknown[] {
  return choices.flatMap(({ parts }) =>
    parts.map((part) => {
      if (part.kind === "tool-call") return readArguments(part.arguments, change);
      return part.kind === "text" || part.kind === "reasoning" || part.kind === "refusal"
        ? change(part.text)
        : part;
    }),
  );
}

function readArguments(text: string, change: (text: string) => string): unknown {
  try {
    return JSON.parse(text, (_key, value) => (typeof value === "string" ? change(value) : value));
  } catch {
    return change(text);
  }
}

describe("a guardrail on recorded streams", () => {
  for (const [folder, format] of FOLDERS)
    for (const { name, text } of readStreams(folder)) {
      const events = readEvents(format, text);
      if (events.some(({ kind }) => kind === "error")) continue;

      test(`masks ${name} as its whole text, and leaves valid events`, () => {
        const checks = createChecks("mask");
        const filtered = events.flatMap((event) => checks.step(event));
        checkEvents(filtered);
        const masked = partsOf(collectAnswer(filtered), (found) => found.replace(MASK, "[X]"));
        expect(masked).toEqual(partsOf(collectAnswer(events), maskText));
      });

      test(`that warns leaves ${name} as it is`, () => {
        const checks = createChecks("warn");
        const filtered = events.flatMap((event) => checks.step(event));
        checkEvents(filtered);
        const same = (found: string) => found;
        expect(partsOf(collectAnswer(filtered), same)).toEqual(partsOf(collectAnswer(events), same));
      });

      test(`that blocks ends ${name} before its first match`, () => {
        const checks = createChecks("block");
        const sent = collectAnswer(events.flatMap((event) => checks.step(event)));
        const matches = createChecks("warn");
        for (const event of events) matches.step(event);
        expect(checks.block !== null).toBe(matches.listFindings().length > 0);
        for (const { parts } of sent.choices)
          for (const part of parts)
            if ("text" in part && part.kind !== "native")
              expect(part.text as string).not.toMatch(new RegExp(PATTERN));
      });
    }
});
