import { describe, expect, test } from "bun:test";
import {
  OPEN_POLICY,
  type TeamMemberRecord,
  type TeamRecord,
} from "../../../src/core/accounts/records/records.ts";
import type { AccountStore } from "../../../src/core/accounts/stores/account-store.ts";
import type { KeyStore } from "../../../src/core/accounts/stores/key-store.ts";
import { MAX_TEAMS, type TeamStore } from "../../../src/core/accounts/stores/team-store.ts";
import type { CreateStore } from "./create-store.ts";
import { accountOf, keyOf, memberOf } from "./samples.ts";

/** The stores that teams share a database with. */
interface TeamStores {
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
  readonly teams: TeamStore;
}

/** A team of the organization `org_1`. */
export function teamOf(id: string, fields: Partial<TeamRecord> = {}): TeamRecord {
  return {
    ...{ id, organizationId: "org_1", name: `name of ${id}`, policy: OPEN_POLICY, rateLimit: null },
    ...{ promptLog: null, cache: null, tags: null, createdAt: 1_000, deletedAt: null },
    ...fields,
  };
}

/** A membership in a team of the organization `org_1`. */
export function teamMemberOf(
  teamId: string,
  userId: string,
  fields: Partial<TeamMemberRecord> = {},
): TeamMemberRecord {
  return {
    teamId,
    organizationId: "org_1",
    userId,
    isLead: false,
    source: "manual",
    createdAt: 1_000,
    ...fields,
  };
}

/** The contract of a `TeamStore`. */
export function testTeamStore(createStores: CreateStore<TeamStores>): void {
  describe("a team store", () => {
    /** Creates stores with an organization of two members. */
    async function createCompany(): Promise<TeamStores> {
      const stores = await createStores();
      await stores.accounts.insertAccount(accountOf("org_1", { kind: "organization" }));
      for (const id of ["user_1", "user_2"]) {
        await stores.accounts.insertAccount(accountOf(id));
        await stores.accounts.putMember(memberOf("org_1", id));
      }
      return stores;
    }

    test("returns a team with every field as it was inserted, and after a change", async () => {
      const { teams } = await createCompany();
      const team = teamOf("team_1", {
        policy: { ...OPEN_POLICY, deniedModels: ["a/*"], zeroRetention: true },
        rateLimit: { requestsPerMinute: 5, tokensPerMinute: null, concurrent: 2 },
        ...{ promptLog: 0, cache: 60, tags: ["team:a"] },
      });
      expect(await teams.insertTeam(team)).toBe("done");
      expect(await teams.findTeam("team_1")).toEqual(team);
      const changed = { ...team, name: "Other", tags: null, promptLog: null };
      expect(await teams.changeTeam("team_1", () => changed)).toEqual({ verdict: "done", team: changed });
      expect(await teams.findTeam("team_1")).toEqual(changed);
      expect(await teams.changeTeam("team_none", (one) => one)).toEqual({ verdict: "unknown", team: null });
      expect(await teams.findTeamNames(["team_1", "team_none"])).toEqual(new Map([["team_1", "Other"]]));
    });

    test("gives a name once in an organization, regardless of case, and again when its team is deleted", async () => {
      const { teams } = await createCompany();
      await teams.insertTeam(teamOf("team_1", { name: "Search" }));
      await teams.insertTeam(teamOf("team_2", { name: "Ads" }));
      expect(await teams.insertTeam(teamOf("team_3", { name: "SEARCH" }))).toBe("name_taken");
      expect((await teams.changeTeam("team_2", (team) => ({ ...team, name: "search" }))).verdict).toBe(
        "name_taken",
      );
      expect(await teams.insertTeam(teamOf("team_4", { name: "search", organizationId: "org_2" }))).toBe(
        "done",
      );
      await teams.deleteTeam("team_1", 5_000);
      expect(await teams.insertTeam(teamOf("team_5", { name: "Search" }))).toBe("done");
    });

    test("bounds the teams of an organization", async () => {
      const { teams } = await createCompany();
      for (let at = 0; at < MAX_TEAMS; at++) await teams.insertTeam(teamOf(`team_${at}`));
      expect(await teams.insertTeam(teamOf("team_more"))).toBe("too_many");
      expect(await teams.insertTeam(teamOf("team_more", { organizationId: "org_2" }))).toBe("done");
    });

    test("lists the teams that exist in an organization by id, and all teams, deleted ones too, newest first", async () => {
      const { teams } = await createCompany();
      for (const id of ["team_2", "team_1", "team_3"]) await teams.insertTeam(teamOf(id));
      await teams.insertTeam(teamOf("team_4", { organizationId: "org_2", name: "Elsewhere" }));
      await teams.deleteTeam("team_3", 5_000);
      expect((await teams.listTeams("org_1")).map(({ id }) => id)).toEqual(["team_1", "team_2"]);
      const listed = async (query: object) =>
        (await teams.listAllTeams({ limit: 10, ...query })).map(({ id }) => id);
      expect(await listed({})).toEqual(["team_4", "team_3", "team_2", "team_1"]);
      expect(await listed({ organizationId: "org_1", afterId: "team_2" })).toEqual(["team_1"]);
      expect(await listed({ named: "ELSEWHERE" })).toEqual(["team_4"]);
      expect(await listed({ named: "team_3" })).toEqual(["team_3"]);
      expect(await listed({ ids: ["team_1", "team_4"] })).toEqual(["team_4", "team_1"]);
      expect(await listed({ ids: [] })).toEqual([]);
      expect(await listed({ search: "of team_1" })).toEqual(["team_1"]);
    });

    test("has only members of the organization, and replaces whether they lead", async () => {
      const { teams } = await createCompany();
      await teams.insertTeam(teamOf("team_1"));
      expect(await teams.putTeamMember(teamMemberOf("team_1", "user_none"))).toBe(false);
      expect(await teams.putTeamMember(teamMemberOf("team_none", "user_1"))).toBe(false);
      expect(await teams.putTeamMember(teamMemberOf("team_1", "user_1"))).toBe(true);
      expect(
        await teams.putTeamMember(teamMemberOf("team_1", "user_1", { isLead: true, createdAt: 9 })),
      ).toBe(true);
      const lead = teamMemberOf("team_1", "user_1", { isLead: true });
      expect(await teams.findTeamMember("team_1", "user_1")).toEqual(lead);
      await teams.putTeamMember(teamMemberOf("team_1", "user_2"));
      const page = { teamId: "team_1", afterUserId: null, limit: 1 };
      expect(await teams.listTeamMembers(page)).toEqual([lead]);
      const [second] = await teams.listTeamMembers({ ...page, afterUserId: "user_1" });
      expect(second?.userId).toBe("user_2");
      expect(await teams.countTeamMembers("org_1")).toEqual(new Map([["team_1", 2]]));
      expect((await teams.listTeamsOfUser("user_1", "org_1")).map(({ teamId }) => teamId)).toEqual([
        "team_1",
      ]);
      expect(await teams.listTeamsOfUser("user_1", "org_2")).toEqual([]);
    });

    test("lists the teams of several users at once, and the members who are outside of a team", async () => {
      const { accounts, teams } = await createCompany();
      for (const id of ["team_1", "team_2"]) await teams.insertTeam(teamOf(id));
      const both = [teamMemberOf("team_1", "user_1", { isLead: true }), teamMemberOf("team_2", "user_1")];
      for (const member of both) await teams.putTeamMember(member);
      expect(await teams.listTeamsOfUsers("org_1", ["user_1", "user_2"])).toEqual(both);
      expect(await teams.listTeamsOfUsers("org_1", ["user_2"])).toEqual([]);
      expect(await teams.listTeamsOfUsers("org_2", ["user_1"])).toEqual([]);
      expect(await teams.listTeamsOfUsers("org_1", [])).toEqual([]);
      const outside = async (outsideTeamId?: string) =>
        (
          await accounts.listMembers({
            ...{ organizationId: "org_1", outsideTeamId, afterUserId: null, limit: 10 },
          })
        ).map(({ userId }) => userId);
      expect(await outside("team_1")).toEqual(["user_2"]);
      expect(await outside()).toEqual(["user_1", "user_2"]);
    });

    test("revokes the keys of a member who leaves, of the team alone, in the same transaction", async () => {
      const { teams, keys } = await createCompany();
      await teams.insertTeam(teamOf("team_1"));
      await teams.putTeamMember(teamMemberOf("team_1", "user_1"));
      const own = { accountId: "org_1", userId: "user_1" };
      await keys.insertKey(keyOf("key_1", { ...own, teamId: "team_1" }));
      await keys.insertKey(keyOf("key_2", own));
      await keys.insertKey(keyOf("key_3", { ...own, userId: "user_2", teamId: "team_1" }));
      const before = await keys.keyRevision();
      expect(await teams.removeTeamMember("team_1", "user_1", 7_000)).toEqual({
        revoked: [{ hash: keyOf("key_1").hash, previousHash: null }],
      });
      expect(await keys.keyRevision()).not.toBe(before);
      const states = await Promise.all(["key_1", "key_2", "key_3"].map((id) => keys.findKey(id)));
      expect(states.map((key) => key?.revokedAt)).toEqual([7_000, null, null]);
      expect(await teams.removeTeamMember("team_1", "user_1", 7_000)).toBeNull();
    });

    test("revokes all keys of a deleted team, ends its memberships, and is found with the time", async () => {
      const { teams, keys } = await createCompany();
      await teams.insertTeam(teamOf("team_1"));
      await teams.putTeamMember(teamMemberOf("team_1", "user_1"));
      await keys.insertKey(keyOf("key_1", { accountId: "org_1", teamId: "team_1" }));
      expect((await teams.deleteTeam("team_1", 7_000))?.revoked).toHaveLength(1);
      expect(await teams.findTeam("team_1")).toMatchObject({ deletedAt: 7_000 });
      expect(await teams.listTeamsOfUser("user_1", "org_1")).toEqual([]);
      expect([
        await teams.deleteTeam("team_1", 8_000),
        await teams.putTeamMember(teamMemberOf("team_1", "user_1")),
      ]).toEqual([null, false]);
    });

    test("loses the members who leave the organization", async () => {
      const { teams, accounts } = await createCompany();
      await teams.insertTeam(teamOf("team_1"));
      await teams.putTeamMember(teamMemberOf("team_1", "user_1"));
      await accounts.removeMember({ organizationId: "org_1", userId: "user_1", at: 5_000 });
      expect(await teams.findTeamMember("team_1", "user_1")).toBeNull();
    });

    test("changes the revision of accounts with each change of a team or its members", async () => {
      const { teams, accounts } = await createCompany();
      const revisions = [await accounts.accountRevision()];
      const note = async () => void revisions.push(await accounts.accountRevision());
      await teams.insertTeam(teamOf("team_1"));
      await note();
      await teams.changeTeam("team_1", (team) => ({ ...team, name: "B" }));
      await note();
      await teams.putTeamMember(teamMemberOf("team_1", "user_1"));
      await note();
      await teams.removeTeamMember("team_1", "user_1", 1);
      await note();
      await teams.deleteTeam("team_1", 1);
      await note();
      expect(new Set(revisions).size).toBe(revisions.length);
    });
  });
}
