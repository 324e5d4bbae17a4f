import { expect } from "bun:test";
import type { TestGateway } from "../../support/gateway/gateway.ts";
import {
  beginProviderSignIn,
  returnFromProvider,
  signInThroughProvider,
} from "../../support/gateway/provider-sign-in.ts";
import { callWithSession } from "../../support/gateway/sign-in.ts";
import { type ConsoleDriver, type ConsoleUser, describeCompanyDay } from "./company-day.ts";

/** Returns the person of a session, who makes the calls of the console. */
async function startUser(gateway: TestGateway, cookie: string): Promise<ConsoleUser> {
  const call: ConsoleUser["call"] = (method, path, body) =>
    callWithSession(gateway, { cookie }, { method, path, ...(body === undefined ? {} : { body }) });
  const { body: session } = await call("GET", "/api/console/session");
  const teamsPath = `/api/admin/organizations/${session.account.id}/teams`;
  return {
    userId: session.user.id,
    call,
    async makeKey(name, team) {
      const { body: teams } = await call("GET", teamsPath);
      const { id: team_id } = teams.data.find((one: { readonly name: string }) => one.name === team);
      const { status, body } = await call("POST", "/api/admin/keys", { name, team_id });
      expect([status, body.error]).toEqual([201, undefined]);
      return { id: body.data.id, secret: body.key };
    },
    async rotate({ id }, former) {
      const overlap_hours = former === "now" ? 0 : 1;
      const { status, body } = await call("POST", `/api/admin/keys/${id}/rotate`, { overlap_hours });
      expect([status, body.error]).toEqual([200, undefined]);
      return body.key;
    },
    async expectTeams(...names) {
      const { body } = await call("GET", teamsPath);
      expect(body.data.map(({ name }: { readonly name: string }) => name).sort()).toEqual([...names].sort());
    },
  };
}

/** Makes the calls of the console, without a browser. */
const DRIVER: ConsoleDriver = {
  async signIn({ provider }, gateway, person) {
    const { status, cookie } = await signInThroughProvider(gateway, provider, { ...person });
    expect(status).toBe(303);
    return startUser(gateway, cookie);
  },
  async accept({ provider }, gateway, code, person) {
    provider.person = { ...person };
    const path = "/api/console/invitations/accept";
    const accepted = await callWithSession(gateway, { cookie: "" }, { method: "POST", path, body: { code } });
    if (accepted.status !== 200) return null;
    const [set = ""] = accepted.headers.getSetCookie();
    const query = "?invitation=true";
    const begun = await beginProviderSignIn(gateway, provider, { query, cookie: set.split(";")[0] ?? "" });
    const { status, cookie } = await returnFromProvider(begun);
    return status === 303 ? startUser(gateway, cookie) : null;
  },
  stop: async () => {},
};

describeCompanyDay("a day of a company, by the calls of the console", async () => DRIVER);
