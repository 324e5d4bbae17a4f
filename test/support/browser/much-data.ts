import type { UsageRecord } from "../../../src/core/usage/records/records.ts";
import type { TestGateway } from "../gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../gateway/management.ts";

/** The longest ids of models in the catalog that lists have to show. */
export const LONG_MODELS = [
  "cognitivecomputations/dolphin-mistral-24b-venice-edition:free",
  "nvidia/nemotron-3-nano-omni-30b-a3b-reasoning:free",
  "meta-llama/llama-4-maverick-17b-128e-instruct-fp8",
  "google/gemini-2.5-flash-lite-preview-09-2025",
] as const;

const LONG_NAMES = [
  "Northwind Traders International Holdings, Department of Retrieval-Augmented Answers",
  "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
  "nightly-evaluation-of-every-prompt-of-the-customer-support-assistant-in-production-eu-west-1",
] as const;

/** Makes the costs of records those of a large company, and gives half of them long ids of models. */
export function enlarge(record: UsageRecord, index: number): UsageRecord {
  const model = index % 2 === 0 ? LONG_MODELS[(index / 2) % LONG_MODELS.length] : undefined;
  const factor = index % 5 === 0 ? 900_000 : 1_000;
  return {
    ...record,
    ...(model === undefined ? {} : { requestedModel: model, model }),
    tags: [LONG_NAMES[2].slice(0, 64), `team-${index % 3}`],
    costNanodollars: record.costNanodollars * factor,
    upstreamCostNanodollars: record.upstreamCostNanodollars * factor,
    promptTokens: record.promptTokens * 1_000,
    completionTokens: record.completionTokens * 1_000,
  };
}

/** Adds long names, and amounts of seven digits, to every list that accounts have. */
export async function addMuchData(gateway: TestGateway, organization: string): Promise<void> {
  const tools = createAccountTools(gateway);
  const admin = async (method: string, path: string, body: unknown) => {
    const { status, body: answer, data } = await callAdmin(gateway, gateway.adminKey, method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return data?.id;
  };
  const address = (name: string, i: number) =>
    `${name
      .toLowerCase()
      .replace(/[^a-z]/g, "")
      .slice(0, 50)}-${i}@example.com`;
  for (const [i, name] of LONG_NAMES.entries()) {
    const user = await tools.user(name, { email: address(name, i) });
    await tools.member(organization, user, i === 0 ? "admin" : "member");
    const team = await admin("POST", `/organizations/${organization}/teams`, {
      name: name.slice(0, 100),
      policy: { denied_models: [...LONG_MODELS] },
      rate_limit: { tokens_per_minute: 123_456_789 },
      tags: [LONG_NAMES[2].slice(0, 64)],
    });
    await admin("PUT", `/organizations/${organization}/teams/${team}/members/${user}`, { is_lead: true });
    await admin("POST", "/budgets", { account_id: organization, team_id: team, limit: 7_654_321.09 });
    await tools.key(organization, { name: name.slice(0, 100), user_id: user, team_id: team });
    const other = await tools.organization(user, { name });
    await admin("POST", `/accounts/${other}/credits`, { amount: 8_876_543.21, note: name });
    await tools.key(organization, {
      name: name.slice(0, 100),
      spend_limit: 1_234_567.89,
      models: [...LONG_MODELS],
    });
    await admin("POST", "/budgets", {
      account_id: organization,
      name: name.slice(0, 100),
      limit: 8_765_432.1,
      period: i === 0 ? "day" : "month",
      ...(i === 2 ? { tag: LONG_NAMES[2].slice(0, 64) } : {}),
    });
    await admin("POST", `/accounts/${organization}/provider-keys`, {
      provider: "anthropic",
      name: name.slice(0, 60),
      key: `sk-ant-${i}-0123456789`,
      models: [...LONG_MODELS],
    });
  }
  await admin("POST", `/accounts/${organization}/credits`, { amount: 7_654_321.09, note: LONG_NAMES[0] });
  await admin("POST", `/accounts/${organization}/credits`, {
    amount: 1_111_111.11,
    note: LONG_NAMES[2],
    expires_at: new Date(Date.now() + 30 * 86_400_000).toISOString(),
  });
}

/** How much a company has whose lists do not fit on one page. */
const COMPANY = { people: 200, keys: 600, teams: 30 } as const;
/** How many requests of the API run at a time. */
const AT_ONCE = 8;

/** Adds the people, teams and keys of a company of 200 to an organization, with their memberships. */
export async function addCompany(gateway: TestGateway, organization: string): Promise<void> {
  const tools = createAccountTools(gateway);
  const path = `/organizations/${organization}`;
  const admin = async (method: string, below: string, body: unknown) => {
    const answer = await callAdmin(gateway, gateway.adminKey, method, below, body);
    if (answer.status >= 300) throw new Error(`${method} ${below}: ${JSON.stringify(answer.body)}`);
    return answer.data.id;
  };
  const people = await mapMany(COMPANY.people, async (i) => {
    const user = await tools.user(`Person ${i}`, { email: `person-${i}@example.com` });
    await tools.member(organization, user, i % 40 === 0 ? "admin" : "member");
    return user;
  });
  const teams = await mapMany(COMPANY.teams, async (i) => {
    const team = await admin("POST", `${path}/teams`, { name: `Team ${i}` });
    await admin("POST", "/budgets", { account_id: organization, team_id: team, limit: 50 + i });
    return team;
  });
  const teamOf = (i: number) => teams[i % teams.length] as string;
  await mapMany(people.length, (i) =>
    admin(
      "PUT",
      `${path}/teams/${teamOf(i)}/members/${people[i]}`,
      i < teams.length ? { is_lead: true } : {},
    ),
  );
  // A third of the keys belongs to no person, a third to no team.
  await mapMany(COMPANY.keys, (i) => {
    const at = Math.floor(i / 3);
    return tools.key(organization, {
      name: `key ${i}`,
      ...(i % 3 === 0 ? {} : { user_id: people[at] }),
      ...(i % 3 === 1 ? {} : { team_id: teamOf(at) }),
    });
  });
}

/** Calls a function for the numbers below a count, several at a time. */
async function mapMany<Result>(count: number, call: (index: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const work = async () => {
    for (let i = next++; i < count; i = next++) results[i] = await call(i);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}
