import { expect } from "bun:test";
import type { VendorFormat } from "../agents/vendors/simulated-vendor.ts";
import { eventually } from "../support/eventually.ts";
import type { TestGateway } from "../support/gateway/gateway.ts";
import { balanceOf, findLedgerProblems, manage } from "../support/money.ts";
import { describeEntries, describeItems, type Session, TURNS } from "./run-session.ts";
import type { Item } from "./session-clients.ts";
import { listSignatures, MODELS, priceOf, type SessionVendors } from "./session-vendors.ts";

/** The credits of the account that pays for a session. Nanodollars. */
export const CREDITS = 10_000_000_000;

/** Gemini's own calls have their signatures back (`expectOwnSignatures`); for those of other vendors' models there are none. */
const FOREIGN_CALL = /^The thought signature of the call of lookup was replaced\.$/;

/** Checks that vendors rejected nothing, and that each of their requests had the whole conversation in its order. */
export function expectWholeHistories({ histories }: Session, { requests }: SessionVendors): void {
  const problems = requests.flatMap(({ rejection, losses }) => [rejection, ...losses]);
  expect(problems.filter((problem) => problem !== null && !FOREIGN_CALL.test(problem))).toEqual([]);
  // A turn that goes wrong has two requests, of which both have the same conversation.
  const expected = TURNS.flatMap(({ format, trouble }, turn) => {
    const one = [format, describeItems(histories[turn] ?? [])];
    return trouble === "fails" || trouble === "breaks" ? [one, one] : [one];
  });
  expect(
    requests.map(({ format, conversation }) => [format, describeEntries(conversation?.entries ?? [])]),
  ).toEqual(expected as never);
}

/** Checks that each vendor got back all signatures and encrypted reasoning that it gave, in their order, and no others. */
export function expectOwnSignatures({ requests }: SessionVendors): void {
  const given = new Map<VendorFormat, string[]>();
  for (const { format, body, answer } of requests) {
    const known = given.get(format) ?? [];
    expect(listSignatures(format, body)).toEqual(known);
    given.set(format, [...known, ...listSignatures(format, answer)]);
  }
  // OpenAI's chat completions have none.
  for (const format of ["openai-responses", "anthropic-messages", "gemini"] as const)
    expect(given.get(format)?.length).toBeGreaterThan(2);
}

/** Checks that each response has one record, and that the account was charged what the vendors billed. */
export async function expectExactBooks(
  gateway: TestGateway,
  { responses, abandoned }: Session,
  { requests }: SessionVendors,
  accountId: string,
): Promise<void> {
  const answers = [...responses, ...abandoned].map(({ id }) => id);
  // A repeated request has the response of the first one, and a record of its own.
  const wanted = [...new Set(answers)].toSorted();
  // Other gateways write their last records within a tenth of a second.
  const ids = await eventually("all records are stored", async () => {
    const { body } = await manage(gateway, `/generations?account_id=${accountId}&limit=100`);
    const rows = body["data"] as Item[];
    const isSettled = rows.length >= answers.length && rows.every(({ outcome }) => outcome !== "open");
    return isSettled ? rows.map(({ id }) => id as string) : null;
  });
  expect(ids).toHaveLength(answers.length);
  expect(await findLedgerProblems(gateway)).toEqual([]);
  const records = await Promise.all(
    ids.map(async (id) => (await manage(gateway, `/generations/${id}`)).body["data"] as Item),
  );
  const own = records.filter(({ outcome }) => outcome !== "cached");
  expect(own.map(({ id }) => id).toSorted()).toEqual(wanted);
  const completed = records.filter(({ outcome }) => outcome === "completed");
  const billed = requests.flatMap(({ usage, provider }) =>
    usage === null ? [] : [`${provider} ${priceOf(usage)}`],
  );
  const charged = completed.map((one) => `${one["provider_name"]} ${one["total_cost_nanodollars"]}`);
  expect(charged.toSorted()).toEqual(billed.toSorted());
  // A vendor that breaks off reports no usage, and the gateway counts what the client got.
  const others = records.filter(({ outcome }) => outcome !== "completed" && outcome !== "cached");
  expect(others.map(({ outcome }) => outcome)).toEqual(
    TURNS.filter(({ trouble }) => trouble === "breaks").map(() => "failed"),
  );
  for (const { total_cost_nanodollars, outcome } of records)
    if (outcome === "cached") expect(total_cost_nanodollars).toBe(0);
  const spent = records.reduce((sum, one) => sum + one["total_cost_nanodollars"], 0);
  // A gateway learns a moment later what others have charged.
  await eventually(`the balance is ${CREDITS - spent}`, async () => {
    return (await balanceOf(gateway, accountId)).balance === CREDITS - spent;
  });
}

/** Checks that the chain of the last response has each turn once, with the ids of the responses. */
export async function expectWholeChain(
  gateway: TestGateway,
  key: string,
  { responses, histories }: Session,
): Promise<void> {
  const read = async (path: string) => {
    const response = await fetch(gateway.base + path, { headers: { authorization: `Bearer ${key}` } });
    expect(response.status).toBe(200);
    return response.json();
  };
  const ids: string[] = [];
  for (let id: string | null = responses.at(-1)?.id ?? null; id !== null; ) {
    const { previous_response_id, status, output, model, store } = (await read(`/responses/${id}`)) as Item;
    const turn = TURNS.length - 1 - ids.length;
    expect({ status, output, model, store }).toEqual({
      status: "completed",
      output: responses[turn]?.output,
      model: MODELS[TURNS[turn]?.format ?? "gemini"],
      store: true,
    });
    ids.unshift(id);
    id = previous_response_id;
  }
  expect(ids).toEqual(responses.map(({ id }) => id));
  const items: Item[] = [];
  for (let after = ""; ; ) {
    const page = (await read(`/responses/${ids.at(-1)}/input_items?order=asc&limit=100${after}`)) as Item;
    items.push(...page["data"]);
    if (!page["has_more"]) break;
    after = `&after=${page["last_id"]}`;
  }
  expect(describeItems(items)).toEqual(describeItems(histories.at(-1) ?? []));
  const itemIds = items.map(({ id }) => id);
  expect(new Set(itemIds).size).toBe(itemIds.length);
}
