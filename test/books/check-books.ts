import type { Run } from "./books.ts";
import type { Check } from "./check.ts";
import { checkAnswers } from "./check-answers.ts";
import { checkBill } from "./check-bill.ts";
import { checkCharges } from "./check-charges.ts";
import { checkSums } from "./check-sums.ts";

/** Compares the database with the vendor's bill and with what clients saw. */
export function checkBooks(run: Run): Check[] {
  return [...checkAnswers(run), ...checkBill(run), ...checkCharges(run), ...checkSums(run)];
}
