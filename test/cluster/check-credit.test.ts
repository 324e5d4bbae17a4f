import { describe, expect, test } from "bun:test";
import { checkCredit } from "./check-credit.ts";
import type { Answer } from "./clients.ts";
import type { Done } from "./faults.ts";
import type { ClusterPayer } from "./payers.ts";

const PAYER: ClusterPayer = {
  name: "a key with a spending limit",
  secret: "gw_secret",
  keyId: "key_a",
  accountId: "user_a",
  limit: 1_000,
  canRunOut: true,
  requestsPerMinute: null,
  concurrent: null,
};
/** PostgreSQL is killed, is away for two seconds, and the fault ends when a client has noticed that it is back. */
const KILL: Done = {
  name: "kill PostgreSQL and start it again",
  harms: ["store"],
  kills: 0,
  startedAt: 9_900,
  endedAt: 13_000,
  databaseGone: { from: 10_000, until: 12_000 },
};

/** An answer to a request, rejected for lack of credit. */
function rejected(askedAt: number, endedAt: number): Answer {
  const error = {
    type: "insufficient_credits",
    message: "it is used up",
    limitSource: "key",
    hasRetryAfter: false,
  };
  const one = {
    serial: 7,
    payer: PAYER,
    plan: "quick" as const,
    maxTokens: null,
    isStream: false,
    size: 7,
    askedAt,
    status: 402,
    generationId: null,
    isWhole: true,
  };
  return { one, payer: PAYER, endedAt, hasLeft: false, isTooLate: false, isBroken: false, error };
}

function checkGone(answer: Answer) {
  const checks = checkCredit({ answers: [answer], faults: [KILL], books: { records: new Map() } });
  return checks.find(({ property }) => property.startsWith("while PostgreSQL is gone"));
}

describe("the check of requests that are rejected for lack of credit", () => {
  test("a rejection is wrong if it was asked for and sent while PostgreSQL was gone", () => {
    expect(checkGone(rejected(10_500, 11_900))).toMatchObject({
      cases: 1,
      broken: ["request 7 of a key with a spending limit: it is used up"],
    });
  });

  test("a rejection is right if PostgreSQL could answer before it was gone, or when it was back", () => {
    for (const answer of [rejected(9_800, 10_050), rejected(10_050, 10_200), rejected(11_000, 12_001)])
      expect(checkGone(answer)).toMatchObject({ cases: 0, broken: [] });
  });

  test("a run in which no request was answered while PostgreSQL was gone has tested nothing", () => {
    expect(checkGone(rejected(20_000, 20_001))).toMatchObject({ cases: 0 });
  });
});
