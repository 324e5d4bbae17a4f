import { describe, expect, test } from "bun:test";
import type { LedgerEntry } from "../../../src/console/api/schema.ts";
import {
  addBalances,
  parseAmount,
  readNanodollars,
  sumEntries,
} from "../../../src/console/screens/credits/ledger-rows.ts";
import { findField } from "../../../src/console/state/find-field.ts";

const entry = (number: number, nanodollars: number): LedgerEntry => ({
  id: `grant_${number}`,
  number,
  kind: "grant",
  account_id: "org_1",
  amount: nanodollars / 1e9,
  amount_nanodollars: nanodollars,
  generation_id: null,
  note: null,
  created_at: "2026-11-23T10:00:00.000Z",
  expires_at: null,
});

describe("the ledger on the credits screen", () => {
  test("the balance after each entry is the present one less all newer entries", () => {
    const rows = addBalances([entry(3, -5), entry(2, 20), entry(1, 1)], 16);
    expect(rows.map(({ balance }) => balance)).toEqual([16, 21, 1]);
    expect(sumEntries(rows)).toBe(16);
  });

  test("no entry has a balance if the present one is not known", () => {
    expect(addBalances([entry(1, 1)], null).map(({ balance }) => balance)).toEqual([null]);
  });
});

describe("an amount of money that was typed", () => {
  test("it may have a dollar sign, a sign, and up to nine decimals, and keeps its digits", () => {
    expect([" 25 ", "$12.50", "-$3.5", "+4", "0.000000001"].map(parseAmount)).toEqual([
      "25",
      "12.50",
      "-3.5",
      "4",
      "0.000000001",
    ]);
    expect(readNanodollars("0.000000001")).toBe(1);
  });

  test("anything else is no amount", () => {
    expect(["", "1e3", "1,5", "1.2345678901", "--1", "12345678", "ten"].map(parseAmount)).toEqual(
      Array.from({ length: 7 }, () => null),
    );
  });
});

describe("the error of a form", () => {
  test("it belongs to the field that the API names, or to the field whose part it names", () => {
    const fields = ["name", "policy.allowed_models"];
    expect(findField({ field: "name" }, fields)).toBe("name");
    expect(findField({ field: "policy.allowed_models.0" }, fields)).toBe("policy.allowed_models");
    expect(findField({ field: "policy" }, fields)).toBeNull();
    expect(findField({ field: null }, fields)).toBeNull();
  });
});
