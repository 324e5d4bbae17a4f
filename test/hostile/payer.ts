import { eventually } from "../support/eventually.ts";
import { fetchGeneration } from "../support/gateway/gateway-process.ts";
import { callAdmin, createAccountTools } from "../support/gateway/management.ts";
import { ensure } from "./hostile-case.ts";
import type { TestBed } from "./test-bed.ts";

export const DOLLAR = 1_000_000_000;

/** A prepaid account at a test bed's gateway. */
export interface Payer {
  readonly id: string;
  readonly key: string;
  /** Posts with its key. */
  post(path: string, body: unknown): Promise<Response>;
  /** Its balance in nanodollars, once nothing is held any more. Throws if that is negative. */
  rest(): Promise<number>;
  /** What is held for its requests now, nanodollars. */
  held(): Promise<number>;
}

interface Balance {
  readonly balance_nanodollars: number;
  readonly held_nanodollars: number;
}

/** Creates an account with this many nanodollars, and a key. `more` are further fields of the key. */
export async function addAccountWithKey(
  bed: TestBed,
  nanodollars: number,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Payer> {
  const operator = () => ({ url: bed.gateway.url, adminKey: bed.adminKey });
  const founder = createAccountTools(operator());
  const id = await founder.user();
  const key = await founder.key(id, more);
  const granted = await callAdmin(operator(), bed.adminKey, "POST", `/accounts/${id}/credits`, {
    amount: (nanodollars / DOLLAR).toFixed(9),
  });
  ensure(granted.status === 201, `credits: ${JSON.stringify(granted.body)}`);
  const fetchBalance = async (): Promise<Balance> => {
    const { status, body } = await callAdmin(operator(), bed.adminKey, "GET", `/accounts/${id}/balance`);
    ensure(status === 200, `the balance answers ${status}: ${JSON.stringify(body)}`);
    return body["data"] as Balance;
  };
  return {
    id,
    key,
    post: (path, body) => bed.post(path, body, { authorization: `Bearer ${key}` }),
    async rest() {
      const { balance_nanodollars: balance } = await eventually("nothing is held any more", async () => {
        const found = await fetchBalance();
        return found.held_nanodollars === 0 ? found : null;
      });
      ensure(balance >= 0, `the balance is ${balance} nanodollars`);
      return balance;
    },
    held: async () => (await fetchBalance()).held_nanodollars,
  };
}

/**
 * Fails a case whose gateway is not ready, or whose ledger check reports other differences than those of
 * the kinds `expected`.
 */
export async function expectSound(bed: TestBed, ...expected: readonly string[]): Promise<void> {
  const ready = await fetch(`${bed.gateway.url}/readyz`);
  ensure(ready.status === 200, `readyz answers ${ready.status}`);
  const { rows } = await callAdmin(bed.gateway, bed.adminKey, "GET", "/ledger/check");
  const kinds = rows.map((row) => row["of"]);
  ensure(kinds.join() === expected.join(), `ledger check: ${JSON.stringify(rows)}`);
}

/** The record of the generation of an answer, once it has ended. */
export function fetchEnded(
  { gateway }: TestBed,
  { key }: Payer,
  id: string,
): Promise<Readonly<Record<string, unknown>>> {
  return eventually(`${id} has ended`, () => fetchGeneration({ url: gateway.url, key }, id));
}
