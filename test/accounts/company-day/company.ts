import { DAY_MS } from "../../../src/base/time/time.ts";
import { databaseVariables } from "../../support/databases/test-databases.ts";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type ApiAnswer, callAdmin } from "../../support/gateway/management.ts";
import { startOidcProvider, type TestOidcProvider } from "../../support/servers/oidc-provider.ts";
import { makeTempFolder } from "../../support/temp-folder.ts";
import { createTestClock } from "../../support/test-clock.ts";
import {
  closing,
  healthy,
  opening,
  startVendor,
  textOf,
  type Vendor,
  type VendorCall,
} from "../../support/vendors/vendor.ts";

const MASTER_KEY = "a1".repeat(32);
/** The cost of one answer of the vendor, of 10 and 5 tokens at the prices below. Nanodollars. */
export const COST = 60_000;
/** The credits of the company. Nanodollars. */
export const GRANT = 10_000_000_000;

/** The text of a request whose answer pauses in the middle, until the test opens the gate. */
export const GATED = "gate";

async function answer(call: VendorCall): Promise<void> {
  if (!JSON.stringify(call.body["messages"]).includes(`"${GATED}"`)) return healthy("Alpha")(call);
  await call.begin();
  await call.events(...opening("Alpha one"));
  await call.gate();
  await call.events(textOf(" two"), ...closing());
  await call.end();
}

/** A company with an identity provider, on one gateway with SQLite, or on two with PostgreSQL. */
export interface Company {
  /** Two gateways of one database; on SQLite, the same gateway twice. */
  readonly a: TestGateway;
  readonly b: TestGateway;
  readonly provider: TestOidcProvider;
  readonly vendor: Vendor;
  readonly organization: string;
  readonly teams: { readonly search: string; readonly ads: string };
  /** The secret of an invitation that expired yesterday. */
  readonly expiredCode: string;
  /** Calls the management API of the first gateway as the operator. */
  manage(method: string, path: string, body?: unknown): Promise<ApiAnswer>;
  /** Sends a request to a gateway. Returns the status of its answer, of which nothing else is kept. */
  chat(gateway: TestGateway, key: string): Promise<number>;
  stop(): Promise<void>;
}

/** Founds a company with two teams and credits, and starts its gateways with the rules of its identity provider. */
export async function createCompany(): Promise<Company> {
  const [provider, vendor] = [await startOidcProvider(), startVendor(answer)];
  const dataDir = makeTempFolder("gateway-test-");
  const { DATABASE_URL } = await databaseVariables(dataDir);
  const environment = DATABASE_URL === undefined ? {} : { GATEWAY_SECRETS_KEY: MASTER_KEY };
  // The company begins two days ago, so that an invitation of a day has expired.
  const clock = createTestClock(Date.now() - 2 * DAY_MS);
  const first = await startTestGateway({ dataDir, environment, clock });
  const founded = await found(first);
  await first.stop({ keepData: true });
  const yaml = JSON.stringify(configure(provider, vendor, founded));
  const later = { key: first.key, yaml };
  const a = await startTestGateway({ ...later, dataDir, environment });
  const b =
    DATABASE_URL === undefined
      ? a
      : await startTestGateway({
          ...{ ...later, dataDir: makeTempFolder("gateway-test-") },
          environment: { ...environment, DATABASE_URL },
        });
  return {
    ...{ a, b, provider, vendor },
    ...founded,
    manage: (method, path, body) => callAdmin(a, a.adminKey, method, path, body),
    async chat(gateway, key) {
      const response = await postChat(
        { ...gateway, key },
        { model: "mine/chat", max_tokens: 5, messages: [{ role: "user", content: "Hi" }] },
      );
      await response.text();
      return response.status;
    },
    async stop() {
      if (b !== a) await b.stop({ keepData: true });
      await a.stop();
      vendor.stop();
      provider.stop();
    },
  };
}

type Founded = Pick<Company, "organization" | "teams" | "expiredCode">;

async function found(gateway: TestGateway): Promise<Founded> {
  const make = async (path: string, body: unknown) => {
    const made = await callAdmin(gateway, gateway.adminKey, "POST", path, body);
    if (made.status >= 300) throw new Error(`${path}: ${JSON.stringify(made.body)}`);
    return made;
  };
  const organization = (await make("/organizations", { name: "Acme", member_keys: { count: 3, days: 90 } }))
    .data.id;
  await make(`/accounts/${organization}/credits`, { amount: GRANT / 1e9 });
  const team = async (name: string) =>
    (await make(`/organizations/${organization}/teams`, { name, tags: [name.toLowerCase()] })).data.id;
  const teams = { search: await team("Search"), ads: await team("Ads") };
  const invited = await make(`/organizations/${organization}/invitations`, { expires_in_hours: 24 });
  return { organization, teams, expiredCode: codeOf(invited) };
}

/** Returns the secret in the link of a new invitation. */
export function codeOf({ body }: ApiAnswer): string {
  return String(body["link"]).split("#code=")[1] ?? "";
}

function configure(provider: TestOidcProvider, vendor: Vendor, { organization }: Founded) {
  const rule = (value: string, more: object) => ({ claim: "groups", value, organization, ...more });
  return {
    limits: { attempts: 1, hold_tokens: 5 },
    providers: {
      mine: {
        base_url: vendor.baseUrl,
        api_keys: ["vendor-key"],
        models: [{ id: "mine/chat", prices: { prompt: "0.000001", completion: "0.00001" } }],
      },
    },
    console: {
      oidc: {
        ...{ issuer: provider.issuer, client_id: "gateway", client_secret: "secret", name: "Acme login" },
        create_users: true,
        rules: [
          rule("search", { role: "member", teams: ["Search"] }),
          rule("search-leads", { role: "member", teams: ["Search"], lead: true }),
          rule("auditors", { role: "auditor" }),
        ],
      },
    },
  };
}
