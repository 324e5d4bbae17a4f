import { userOf } from "./fill-database.ts";

/** A management call that the console or an operator makes. */
export interface ManagementCall {
  readonly name: string;
  readonly path: string;
  /** Whether it reads a page by an index, however large the tables are. */
  readonly isPage: boolean;
}

/** The calls of the console's screens, at a time in milliseconds since the epoch. */
export function listManagementCalls(now: number): readonly ManagementCall[] {
  const day = new Date(now - 3_600_000).toISOString();
  const page = (name: string, path: string): ManagementCall => ({ name, path, isPage: true });
  const sum = (name: string, path: string): ManagementCall => ({ name, path, isPage: false });
  return [
    sum("usage of 30 days", "/usage"),
    sum("usage of 30 days by model", "/usage?group_by=model"),
    sum("usage of 30 days by key", "/usage?group_by=key"),
    sum("ledger check", "/ledger/check"),
    sum("histogram of an hour", `/generations/histogram?from=${day}`),
    page("newest keys", "/keys?limit=50"),
    page("keys of an account", `/keys?account_id=${userOf(7)}&limit=50`),
    page("balances of organizations", "/balances?limit=50"),
    page("balances of users", "/balances?kind=user&limit=50"),
    page("users", "/users?limit=50"),
    page("newest requests", "/generations?limit=50"),
    page("ledger of an account", `/accounts/${userOf(7)}/ledger?limit=50`),
  ];
}
