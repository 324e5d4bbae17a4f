import { fail } from "../../base/errors.ts";

/** Ends the request: `problem` says what is wrong with the field and what to send instead. */
export function refuse(field: string, problem: string): never {
  return fail("invalid_request", `${field} ${problem}.`, { metadata: { field } });
}
