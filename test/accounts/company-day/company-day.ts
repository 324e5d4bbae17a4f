import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { postChat, type TestGateway } from "../../support/gateway/gateway.ts";
import type { ApiObject } from "../../support/gateway/management.ts";
import { balanceOf, findLedgerProblems } from "../../support/money.ts";
import { COST, type Company, codeOf, createCompany, GATED, GRANT } from "./company.ts";

/** A person of the company: what the identity provider says of them, and how they use the console. */
export interface Person {
  readonly sub: string;
  readonly email: string;
  readonly email_verified: true;
  readonly name: string;
  readonly groups: readonly string[];
}

/** A key as its maker sees it. */
export interface MadeKey {
  readonly id: string;
  readonly secret: string;
}

/** An answer of the API. */
export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the steps look at many shapes
  readonly body: any;
}

/** A signed-in person who uses the console, in a browser or by its calls. */
export interface ConsoleUser {
  readonly userId: string;
  makeKey(name: string, team: string): Promise<MadeKey>;
  /** Returns the new secret. The former one stays valid for an hour, or ends at once. */
  rotate(key: MadeKey, former: "an hour" | "now"): Promise<string>;
  /** Calls the API with the person's session. */
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Expects that the person sees exactly these teams of the organization, and may change none. */
  expectTeams(...teams: readonly string[]): Promise<void>;
}

/** Makes people use the console. */
export interface ConsoleDriver {
  signIn(company: Company, gateway: TestGateway, person: Person): Promise<ConsoleUser>;
  /** Follows the link of an invitation. Returns null if it is not valid. */
  accept(company: Company, gateway: TestGateway, code: string, person: Person): Promise<ConsoleUser | null>;
  stop(): Promise<void>;
}

const person = (sub: string, ...groups: string[]): Person => ({
  ...{ sub, email: `${sub}@acme.example`, email_verified: true, name: sub, groups },
});
/** Requests of one load, which runs until what happens meanwhile is done. */
const LOAD = 4;

/** Describes a day of a company whose people help themselves. Each step continues where the one before has ended. */
export function describeCompanyDay(title: string, start: () => Promise<ConsoleDriver>): void {
  describe(title, () => {
    let company: Company;
    let driver: ConsoleDriver;
    beforeAll(async () => {
      [company, driver] = [await createCompany(), await start()];
    }, 60_000);
    afterAll(async () => {
      await driver?.stop();
      await company?.stop();
    });

    let ada: ConsoleUser;
    let lea: ConsoleUser;
    let auditor: ConsoleUser;
    let bob: ConsoleUser;
    let adaKey: MadeKey;
    let leaKey: MadeKey;
    let bobKey: MadeKey;
    /** Requests that were answered with 200. */
    let answered = 0;
    /** Of them, those of Bob and of Ada. */
    const answeredOf = { bob: 0, ada: 0 };
    const send = async (gateway: TestGateway, key: string) => {
      const status = await company.chat(gateway, key);
      if (status !== 200) return status;
      answered += 1;
      if (key === bobKey.secret) answeredOf.bob += 1;
      if (key === adaKey.secret) answeredOf.ada += 1;
      return status;
    };

    test("three people sign in, and the rules of the identity provider place them", async () => {
      const { a, b, organization, teams, manage } = company;
      ada = await driver.signIn(company, a, person("ada", "search"));
      lea = await driver.signIn(company, b, person("lea", "search-leads"));
      auditor = await driver.signIn(company, a, person("aud", "auditors"));
      const { rows } = await manage("GET", `/organizations/${organization}/members?limit=100`);
      expect(rows.map(({ user_id, role, source }) => [user_id, role, source])).toEqual(
        expect.arrayContaining([
          [ada.userId, "member", "oidc"],
          [lea.userId, "member", "oidc"],
          [auditor.userId, "auditor", "oidc"],
        ]),
      );
      const inSearch = await manage("GET", `/organizations/${organization}/teams/${teams.search}/members`);
      expect(inSearch.rows.map(({ user_id, is_lead }) => [user_id, is_lead])).toEqual(
        expect.arrayContaining([
          [ada.userId, false],
          [lea.userId, true],
        ]),
      );
    });

    test("of two invitations one has expired, and the other works once", async () => {
      const { a, b, organization, teams, manage, expiredCode } = company;
      expect(await driver.accept(company, a, expiredCode, person("late"))).toBeNull();
      const invited = await manage("POST", `/organizations/${organization}/invitations`, {
        ...{ email: person("bob").email, teams: [{ id: teams.ads }] },
      });
      bob = (await driver.accept(company, b, codeOf(invited), person("bob"))) as ConsoleUser;
      expect(bob).not.toBeNull();
      expect(await driver.accept(company, a, codeOf(invited), person("eve"))).toBeNull();
      const { rows } = await manage("GET", `/organizations/${organization}/members?limit=100`);
      expect(rows.find(({ user_id }) => user_id === bob.userId)).toMatchObject({ source: "invitation" });
      expect(rows).toHaveLength(4);
    });

    test("members make keys for themselves, in their teams only", async () => {
      const { a, b, teams } = company;
      adaKey = await ada.makeKey("Ada's laptop", "Search");
      leaKey = await lea.makeKey("Lea's program", "Search");
      bobKey = await bob.makeKey("Bob's laptop", "Ads");
      for (const { secret } of [adaKey, leaKey, bobKey])
        for (const gateway of [a, b]) expect(await send(gateway, secret)).toBe(200);
      const other = await ada.call("POST", "/api/admin/keys", { name: "other", team_id: teams.ads });
      expect([other.status, other.body.error.metadata.field]).toEqual([400, "team_id"]);
      expect((await auditor.call("POST", "/api/admin/keys", { name: "mine" })).status).toBe(403);
    });

    test("the budget of one person is reached, and those of the teams and of another person are not", async () => {
      const { a, b, organization, teams, manage } = company;
      const budget = (body: object) =>
        manage("POST", "/budgets", { account_id: organization, period: "month", ...body });
      for (const team_id of Object.values(teams)) await budget({ team_id, limit: 1 });
      // She has sent two requests. A third one fits, and a fourth one does not.
      const made = await budget({ user_id: ada.userId, limit: (3.5 * COST) / 1e9 });
      expect(made.status).toBe(201);
      await eventually("Ada's budget to be reached at both gateways", async () => {
        const statuses = [await send(a, adaKey.secret), await send(b, adaKey.secret)];
        return statuses.every((status) => status === 402 || status === 429) ? true : null;
      });
      for (const gateway of [a, b]) expect(await send(gateway, leaKey.secret)).toBe(200);
      const { body } = await ada.call("GET", "/api/admin/me");
      expect(JSON.stringify(body)).toContain(made.data.id);
    });

    test("a key is rotated under load without a failed request, and after a leak its former secret ends at once", async () => {
      const { a, b } = company;
      let isOver = false;
      let used = leaKey.secret;
      const statuses: number[] = [];
      const load = async (gateway: TestGateway) => {
        while (!isOver) statuses.push(await send(gateway, used));
      };
      const running = Array.from({ length: LOAD }, (_, at) => load(at % 2 === 0 ? a : b));
      const former = leaKey.secret;
      const fresh = await lea.rotate(leaKey, "an hour");
      await eventually("the new secret at both gateways", async () =>
        (await send(a, fresh)) === 200 && (await send(b, fresh)) === 200 ? true : null,
      );
      used = fresh;
      for (const gateway of [a, b]) expect(await send(gateway, former)).toBe(200);
      isOver = true;
      await Promise.all(running);
      expect(statuses.length).toBeGreaterThan(0);
      expect(statuses.filter((status) => status !== 200)).toEqual([]);
      leaKey = { ...leaKey, secret: await lea.rotate({ ...leaKey, secret: fresh }, "now") };
      await eventually("the former secrets to end", async () =>
        (await send(a, fresh)) === 401 && (await send(b, former)) === 401 ? true : null,
      );
      expect(await send(b, leaKey.secret)).toBe(200);
    });

    test("a person who is removed in the middle of a stream gets its rest, and nothing more at any gateway", async () => {
      const { a, b, organization, vendor, manage } = company;
      const sent = vendor.calls.length;
      const opened = postChat(
        { ...b, key: bobKey.secret },
        { model: "mine/chat", max_tokens: 5, stream: true, messages: [{ role: "user", content: GATED }] },
      );
      const call = await vendor.call(sent);
      await call.atGate;
      const removed = await manage("DELETE", `/organizations/${organization}/members/${bob.userId}`);
      expect(removed.status).toBe(200);
      await eventually("Bob's key to end", async () =>
        (await send(a, bobKey.secret)) === 401 && (await send(b, bobKey.secret)) === 401 ? true : null,
      );
      await eventually("Bob's session to end", async () =>
        (await bob.call("GET", "/api/admin/me")).status === 401 ? true : null,
      );
      call.openGate();
      const response = await opened;
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("[DONE]")]);
      answered += 1;
      answeredOf.bob += 1;
    });

    test("the auditor sees everything and changes nothing", async () => {
      const { organization, teams } = company;
      const read = ["members", "teams", "invitations"].map(
        (part) => `/organizations/${organization}/${part}`,
      );
      for (const path of [...read, "/keys", "/budgets", "/generations", "/usage", "/audit", "/rejections"])
        expect([path, (await auditor.call("GET", `/api/admin${path}`)).status]).toEqual([path, 200]);
      for (const [method, path, body] of [
        ["PATCH", `/organizations/${organization}/teams/${teams.ads}`, { name: "Mine" }],
        ["DELETE", `/keys/${leaKey.id}`, undefined],
        ["POST", "/budgets", { limit: 1 }],
        ["DELETE", `/organizations/${organization}/members/${ada.userId}`, undefined],
        ["POST", `/organizations/${organization}/invitations`, {}],
      ] as const)
        expect([path, (await auditor.call(method, `/api/admin${path}`, body)).status]).toEqual([path, 403]);
      await auditor.expectTeams("Search", "Ads");
    });

    test("each cent is accounted for: by the vendor, the records, the teams and the balance", async () => {
      const { a, organization, teams, vendor, manage } = company;
      expect(vendor.calls).toHaveLength(answered);
      await eventually("all requests to be charged", async () => {
        const { balance, held } = await balanceOf(a, organization);
        return balance === GRANT - answered * COST && held === 0 ? true : null;
      });
      expect(await findLedgerProblems(a)).toEqual([]);
      const { rows } = await manage("GET", `/usage?group_by=team&account_id=${organization}`);
      const countIn = (lines: readonly ApiObject[], by: "team" | "user") =>
        Object.fromEntries(
          lines.map((line) => [line[by], [line["requests"], Number(line["cost_nanodollars"]) / COST]]),
        );
      const twice = (count: number) => [count, count];
      const inSearch = answered - answeredOf.bob;
      expect(countIn(rows, "team")).toEqual({
        ...{ [teams.ads]: twice(answeredOf.bob), [teams.search]: twice(inSearch) },
      });
      const people = await manage("GET", `/usage?group_by=user&account_id=${organization}`);
      expect(countIn(people.rows, "user")).toEqual({
        [ada.userId]: twice(answeredOf.ada),
        [bob.userId]: twice(answeredOf.bob),
        [lea.userId]: twice(inSearch - answeredOf.ada),
      });
    });
  });
}
