import type { Api } from "./api.ts";
import type { State } from "./read-state.ts";
import { type WrittenData, writeBudgets, writeGenerations } from "./write-data.ts";

/** The name of a preset with a member that only the later version may know. */
export const LATER_PRESET = "@uncached";

/**
 * Makes what only the later version can store, on accounts and keys of the earlier one, and generations of each kind. Returns the data
 * with the new generations.
 */
export async function writeLaterData(api: Api, earlier: Api, data: WrittenData): Promise<WrittenData> {
  const [, user = ""] = data.accounts;
  const [organization = ""] = data.organizations;
  if (!earlier.has("POST /api/admin/budgets"))
    await writeBudgets(api, { keys: data.inferenceKeys, user, organization });
  const change = "PATCH /api/admin/users/{id}";
  if (!earlier.takes(change, "prompt_caching") && api.takes(change, "prompt_caching")) {
    await api.make(change, [user], { policy: { prompt_caching: "off" } });
    const preset = { kind: "preset", model: "acme/one", provider: { prompt_caching: "off" } };
    const path = `/api/admin/named-routes/${encodeURIComponent(LATER_PRESET)}?account_id=${user}`;
    const { status, body } = await api.send("PUT", path, { body: preset });
    if (status >= 300) throw new Error(`the preset: ${JSON.stringify(body)}`);
  }
  const { generations, logged } = await writeGenerations(api, data.inferenceKeys);
  return {
    ...data,
    generations: [...data.generations, ...generations],
    logged: [...data.logged, ...logged],
  };
}

/** Reads what `writeLaterData` has made, besides generations. */
export async function readLaterData(api: Api, { accounts }: WrittenData): Promise<State> {
  const [, user = ""] = accounts;
  const paths = [`users/${user}`, `named-routes?account_id=${user}`, "budgets?limit=100"];
  const state = new Map<string, unknown>();
  for (const path of paths) {
    const { status, body } = await api.send("GET", `/api/admin/${path}`, {});
    state.set(path, { status, body });
  }
  return state;
}
