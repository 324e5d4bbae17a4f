import { signal } from "@preact/signals";
import { call } from "../../api/client.ts";

/** An account in a list to choose from. */
interface AccountName {
  readonly id: string;
  readonly name: string;
  readonly kind: "user" | "organization";
}

/** The maximum number of pages of each kind that are loaded. Further accounts can be chosen by their id. */
const PAGES = 5;
const PAGE_ROWS = 100;

/** The organizations and users of the gateway, once they are loaded. Only the operator can list them. */
export const accounts = signal<readonly AccountName[]>([]);

let isLoaded = false;

/** Loads the accounts, unless they were loaded. A failure leaves the list empty, and the next call tries again. */
export function loadAccounts(): void {
  if (isLoaded) return;
  isLoaded = true;
  Promise.all([listAll("organization"), listAll("user")]).then(
    (lists) => {
      accounts.value = lists.flat();
    },
    () => {
      isLoaded = false;
    },
  );
}

/** Loads the accounts at the next call, because one was created or renamed. */
export function forgetAccounts(): void {
  isLoaded = false;
}

async function listAll(kind: AccountName["kind"]): Promise<readonly AccountName[]> {
  const name = kind === "user" ? "GET /api/admin/users" : "GET /api/admin/organizations";
  const found: AccountName[] = [];
  let after: string | null = null;
  for (let page = 0; page < PAGES; page++) {
    const { data, next }: { data: readonly { id: string; name: string }[]; next: string | null } = await call(
      name,
      {
        query: { limit: PAGE_ROWS, after },
      },
    );
    found.push(...data.map(({ id, name }) => ({ id, name, kind })));
    after = next;
    if (after === null) break;
  }
  return found;
}

/** Loads the name of one account. The prefix of an id tells its kind. */
export async function loadAccountName(id: string, signal: AbortSignal): Promise<string> {
  const name = id.startsWith("org_") ? "GET /api/admin/organizations/{id}" : "GET /api/admin/users/{id}";
  return (await call(name, { params: { id }, signal })).data.name;
}
