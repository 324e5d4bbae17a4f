import type { UsageRecord } from "../../src/core/usage/records/records.ts";
import type { Asked, Payer } from "../books/asked.ts";
import { type BillEntry, MAX_TOKENS } from "../books/billing-vendor.ts";
import { describe, type Run, sameAsBilled } from "../books/books.ts";
import { type Check, check } from "../books/check.ts";
import { LONGEST_ANSWER, OPENING } from "../books/hostile-answers.ts";
import { HOSTILE, priceOf } from "../books/prices.ts";
import { DRY_ACCOUNT } from "./payers.ts";

/** Tokens counted in the prompt, and in the answer. */
const PROMPT_PARTS = ["cachedTokens", "cacheWriteTokens", "audioPromptTokens"] as const;
const ANSWER_PARTS = ["reasoningTokens", "audioCompletionTokens", "imageCompletionTokens"] as const;

/** More than the prompt of any honest request of a run, and less than any impossible count. */
const LARGEST_PROMPT = 4_000;
/** The longest answer, estimated at four bytes per token: the opening, then five bytes per token. */
const LONGEST_ESTIMATE = Math.ceil((OPENING.length + LONGEST_ANSWER * 5) / 4);
/** More than the few words of a lying answer. */
const LONGEST_FALSE = 20;
/** How far a vendor's count may exceed the bound of its request and still be accepted (docs/api/chat.md, "Usage"). */
const ALLOWANCE = 256;

/** Compares the records of hostile vendors with what their requests can have used. */
export function checkHostile(run: Run): Check[] {
  const all = [...run.books.records.values()].filter(({ provider }) => provider === HOSTILE);
  const known = pairs(run);
  const lying = known.filter(({ one }) => one.plan === "lying");
  return [
    check(
      "no count is accepted that a hostile vendor's context window or longest answer does not allow",
      all,
      (record) => (isWithin(record, LARGEST_PROMPT, LONGEST_ESTIMATE) ? null : describe(record)),
    ),
    check("false usage is neither recorded nor charged", lying, ({ record }) =>
      isWithin(record, LARGEST_PROMPT, LONGEST_FALSE) ? null : describe(record),
    ),
    check("no part of a usage exceeds the whole", all, (record) =>
      PROMPT_PARTS.every((part) => isCount(record[part], record.promptTokens)) &&
      ANSWER_PARTS.every((part) => isCount(record[part], record.completionTokens))
        ? null
        : describe(record),
    ),
    check(
      "an answer beyond the bound of its request is charged up to that bound and 256 tokens",
      known.filter(({ one }) => one.plan === "overlong"),
      ({ one, record }) =>
        record.completionTokens <= (one.maxTokens ?? MAX_TOKENS) + ALLOWANCE ? null : describe(record),
    ),
    check(
      "an answer to a request without a bound is charged what the vendor billed, or all that the account or key had left",
      known.filter(({ one, record }) => one.plan === "long" && one.isWhole && !record.estimated),
      ({ one, record }) => {
        const entry = run.bill.find(({ serial, isBilled }) => serial === one.serial && isBilled);
        if (entry === undefined) return describe(record);
        const isShort = mayRunOut(one.payer) && isShortOf(record, entry);
        return isShort || sameAsBilled(record, entry, run.books) ? null : describe(record);
      },
    ),
    check(
      "an answer that the account does not cover ends early, and is charged for what was produced",
      known.filter(({ one, record }) => one.plan === "long" && one.isWhole && record.estimated),
      ({ record }) =>
        record.finishReason === "length" && record.costNanodollars > 0 ? null : describe(record),
    ),
  ];
}

/** Whether a run may spend all that this payer has. */
function mayRunOut({ accountId, limit }: Payer): boolean {
  return accountId === DRY_ACCOUNT || limit !== null;
}

/** Concurrent streams may together use more than their account had left; the record shows it, and no balance does. */
function isShortOf(record: UsageRecord, { usage, provider }: BillEntry): boolean {
  const { promptTokens, completionTokens, costNanodollars, upstreamCostNanodollars } = record;
  return (
    promptTokens === usage.promptTokens &&
    completionTokens === usage.completionTokens &&
    upstreamCostNanodollars === priceOf(provider, usage) &&
    costNanodollars < upstreamCostNanodollars
  );
}

/** Requests whose generation is known to the client, with its record. */
function pairs({ asked, books }: Run): { readonly one: Asked; readonly record: UsageRecord }[] {
  return asked.flatMap((one) => {
    const record = one.generationId === null ? undefined : books.records.get(one.generationId);
    return record === undefined || record.provider !== HOSTILE ? [] : [{ one, record }];
  });
}

function isWithin(
  { promptTokens, completionTokens }: UsageRecord,
  prompt: number,
  completion: number,
): boolean {
  return isCount(promptTokens, prompt) && isCount(completionTokens, completion);
}

function isCount(count: number, most: number): boolean {
  return Number.isSafeInteger(count) && count >= 0 && count <= most;
}
