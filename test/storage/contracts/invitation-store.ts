import { describe, expect, test } from "bun:test";
import {
  type InvitationRecord,
  stateOfInvitation,
} from "../../../src/core/accounts/records/invitation-records.ts";
import type { AccountStore } from "../../../src/core/accounts/stores/account-store.ts";
import {
  type InvitationAcceptance,
  type InvitationStore,
  MAX_OPEN_INVITATIONS,
} from "../../../src/core/accounts/stores/invitation-store.ts";
import type { KeyStore } from "../../../src/core/accounts/stores/key-store.ts";
import type { TeamStore } from "../../../src/core/accounts/stores/team-store.ts";
import type { CreateStore } from "./create-store.ts";
import { accountOf, keyOf, memberOf } from "./samples.ts";
import { teamMemberOf, teamOf } from "./team-store.ts";

/** The stores that invitations share a database with. */
interface InvitationStores {
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
  readonly teams: TeamStore;
  readonly invitations: InvitationStore;
}

const HOUR = 3_600_000;

function invitationOf(id: string, fields: Partial<InvitationRecord> = {}): InvitationRecord {
  return {
    id,
    organizationId: "org_1",
    role: "member",
    teams: [],
    email: null,
    hash: `hash of ${id}`,
    createdBy: null,
    createdAt: 0,
    expiresAt: HOUR,
    endedAt: null,
    userId: null,
    ...fields,
  };
}

const acceptanceOf = (id: string, fields: Partial<InvitationAcceptance> = {}): InvitationAcceptance => ({
  id,
  userId: "user_1",
  user: null,
  key: null,
  at: 10,
  ...fields,
});

/** The contract of an `InvitationStore`. */
export function testInvitationStore(createStores: CreateStore<InvitationStores>): void {
  describe("an invitation store", () => {
    /** Creates stores with an organization, two teams and a user. */
    async function createCompany(): Promise<InvitationStores> {
      const stores = await createStores();
      await stores.accounts.insertAccount(accountOf("org_1"));
      await stores.accounts.insertAccount(accountOf("user_1"));
      for (const id of ["team_1", "team_2"]) await stores.teams.insertTeam(teamOf(id));
      return stores;
    }

    const listIds = async (
      { invitations }: InvitationStores,
      query: Partial<Parameters<InvitationStore["listInvitations"]>[0]> = {},
    ) =>
      (
        await invitations.listInvitations({
          ...{ organizationId: "org_1", createdBy: null, afterId: null, limit: 10 },
          ...query,
        })
      ).map(({ id }) => id);

    test("returns an invitation with every field as it was inserted, by its id and by its hash", async () => {
      const { invitations } = await createCompany();
      const invitation = invitationOf("inv_1", {
        role: "auditor",
        teams: [{ id: "team_1", isLead: true }],
        email: "ada@example.com",
        createdBy: "user_9",
      });
      expect(await invitations.insertInvitation(invitation)).toBe(true);
      expect(await invitations.findInvitation("inv_1")).toEqual(invitation);
      expect(await invitations.findInvitationByHash("hash of inv_1")).toEqual(invitation);
      expect(await invitations.findInvitation("inv_2")).toBeNull();
      expect(await invitations.findInvitationByHash("hash of inv_2")).toBeNull();
    });

    test("lists the invitations of an organization, or of one inviter, newest first and page by page", async () => {
      const stores = await createCompany();
      for (const [id, createdBy] of [
        ["inv_1", null],
        ["inv_2", "user_1"],
        ["inv_3", "user_1"],
      ] as const)
        await stores.invitations.insertInvitation(invitationOf(id, { createdBy }));
      await stores.invitations.insertInvitation(invitationOf("inv_4", { organizationId: "org_2" }));
      expect(await listIds(stores)).toEqual(["inv_3", "inv_2", "inv_1"]);
      expect(await listIds(stores, { createdBy: "user_1" })).toEqual(["inv_3", "inv_2"]);
      expect(await listIds(stores, { limit: 1, afterId: "inv_3" })).toEqual(["inv_2"]);
    });

    test("keeps a bounded number of open invitations of an organization; ended ones make room", async () => {
      const { invitations } = await createCompany();
      for (let count = 1; count < MAX_OPEN_INVITATIONS; count++)
        expect(await invitations.insertInvitation(invitationOf(`inv_${count}`))).toBe(true);
      const [short, next] = [invitationOf("inv_short", { expiresAt: 50 }), invitationOf("inv_next")];
      expect(await invitations.insertInvitation(short)).toBe(true);
      expect(await invitations.insertInvitation(next)).toBe(false);
      expect(await invitations.findInvitation("inv_next")).toBeNull();
      expect(await invitations.insertInvitation({ ...next, organizationId: "org_2" })).toBe(true);
      const late = invitationOf("inv_late", { createdAt: 50 });
      expect(await invitations.insertInvitation(late)).toBe(true);
      expect(await invitations.insertInvitation({ ...late, id: "inv_x", hash: "x" })).toBe(false);
      expect(await invitations.withdrawInvitation("inv_1", 60)).toBe(true);
      expect(await invitations.insertInvitation({ ...late, id: "inv_x", hash: "x" })).toBe(true);
    });

    test("withdraws an open invitation once, and none that has expired", async () => {
      const { invitations } = await createCompany();
      await invitations.insertInvitation(invitationOf("inv_1"));
      await invitations.insertInvitation(invitationOf("inv_2"));
      expect(await invitations.withdrawInvitation("inv_1", 5)).toBe(true);
      expect(await invitations.withdrawInvitation("inv_1", 6)).toBe(false);
      expect(await invitations.withdrawInvitation("inv_2", HOUR)).toBe(false);
      expect(await invitations.withdrawInvitation("inv_3", 5)).toBe(false);
      const found = await invitations.findInvitation("inv_1");
      expect(found).toEqual(invitationOf("inv_1", { endedAt: 5 }));
      expect(stateOfInvitation(found!, 5)).toBe("withdrawn");
      expect(await invitations.acceptInvitation(acceptanceOf("inv_1"))).toBe("not_open");
    });

    test("makes the user, the memberships and the key of an accepted invitation together", async () => {
      const [here, there] = [await createCompany(), await createStores()];
      const [before, keysBefore] = [await there.accounts.accountRevision(), await there.keys.keyRevision()];
      const teams = [
        { id: "team_1", isLead: true },
        { id: "team_2", isLead: false },
      ];
      await here.invitations.insertInvitation(invitationOf("inv_1", { role: "billing", teams }));
      const user = accountOf("user_2", { email: "ada@example.com" });
      const key = keyOf("key_1", { kind: "management", accountId: "org_1", userId: "user_2" });
      const accepted = await here.invitations.acceptInvitation(
        acceptanceOf("inv_1", { userId: "user_2", user, key, at: 7 }),
      );
      const member = memberOf("org_1", "user_2", { role: "billing", source: "invitation", createdAt: 7 });
      const joined = teams.map(({ id, isLead }) =>
        teamMemberOf(id, "user_2", { isLead, source: "invitation", createdAt: 7 }),
      );
      expect(accepted).toEqual({ member, teams: joined });
      expect(await there.accounts.findAccount("user_2")).toEqual(user);
      expect(await there.accounts.findMember("org_1", "user_2")).toEqual(member);
      expect(await there.teams.listTeamsOfUser("user_2", "org_1")).toEqual(joined);
      expect(await there.keys.findKey("key_1")).toEqual(key);
      expect(await there.accounts.accountRevision()).toBeGreaterThan(before);
      expect(await there.keys.keyRevision()).toBeGreaterThan(keysBefore);
      const found = await there.invitations.findInvitation("inv_1");
      expect(found).toMatchObject({ endedAt: 7, userId: "user_2" });
      expect(stateOfInvitation(found!, 8)).toBe("accepted");
    });

    test("keeps the membership that the user has, and adds the teams that the user lacks", async () => {
      const { accounts, teams, invitations } = await createCompany();
      await accounts.putMember(memberOf("org_1", "user_1", { role: "admin" }));
      await teams.putTeamMember(teamMemberOf("team_1", "user_1"));
      const both = [
        { id: "team_1", isLead: true },
        { id: "team_2", isLead: false },
      ];
      await invitations.insertInvitation(invitationOf("inv_1", { teams: both }));
      const accepted = await invitations.acceptInvitation(acceptanceOf("inv_1"));
      expect(accepted).toMatchObject({ member: null, teams: [{ teamId: "team_2" }] });
      expect(await accounts.findMember("org_1", "user_1")).toMatchObject({ role: "admin", source: "manual" });
      expect(await teams.findTeamMember("team_1", "user_1")).toEqual(teamMemberOf("team_1", "user_1"));
      await invitations.insertInvitation(invitationOf("inv_2", { teams: both }));
      expect(await invitations.acceptInvitation(acceptanceOf("inv_2"))).toBe("member");
      expect(await invitations.findInvitation("inv_2")).toMatchObject({ endedAt: null });
    });

    test.each<[string, (stores: InvitationStores) => Promise<unknown>, Partial<InvitationAcceptance>]>([
      [
        "organization_closed",
        ({ accounts }) => accounts.changeAccount("org_1", (one) => ({ ...one, closedAt: 5 })),
        {},
      ],
      ["team_deleted", ({ teams }) => teams.deleteTeam("team_2", 5), {}],
      ["not_open", async () => {}, { at: HOUR }],
      [
        "email_taken",
        ({ accounts }) => accounts.insertAccount(accountOf("user_3", { email: "ada@example.com" })),
        { userId: "user_2", user: accountOf("user_2", { email: "ada@example.com" }) },
      ],
    ])("changes nothing if it returns %s", async (problem, prepare, fields) => {
      const stores = await createCompany();
      const teams = [
        { id: "team_1", isLead: false },
        { id: "team_2", isLead: false },
      ];
      await stores.invitations.insertInvitation(invitationOf("inv_1", { teams }));
      await prepare(stores);
      const before = await stores.accounts.accountRevision();
      const acceptance = acceptanceOf("inv_1", { key: keyOf("key_1"), ...fields });
      expect(await stores.invitations.acceptInvitation(acceptance)).toBe(problem as never);
      expect(await stores.invitations.findInvitation("inv_1")).toMatchObject({ endedAt: null, userId: null });
      expect(await stores.accounts.findMember("org_1", acceptance.userId)).toBeNull();
      expect(await stores.teams.listTeamsOfUser(acceptance.userId, "org_1")).toEqual([]);
      expect(await stores.accounts.findAccount("user_2")).toBeNull();
      expect(await stores.keys.findKey("key_1")).toBeNull();
      expect(await stores.accounts.accountRevision()).toBe(before);
    });

    test("is accepted by one of several users who accept it at the same time", async () => {
      const stores = [await createCompany(), await createStores()];
      await stores[0]!.invitations.insertInvitation(invitationOf("inv_1"));
      const results = await Promise.all(
        stores.flatMap(({ invitations }, at) =>
          Array.from({ length: 3 }, (_, index) => {
            const user = accountOf(`user_1${at}${index}`);
            return invitations.acceptInvitation(acceptanceOf("inv_1", { userId: user.id, user }));
          }),
        ),
      );
      expect(results.filter((result) => result === "not_open")).toHaveLength(5);
      const members = await stores[0]!.accounts.listMembers({
        organizationId: "org_1",
        afterUserId: null,
        limit: 10,
      });
      expect(members).toHaveLength(1);
      expect((await stores[0]!.invitations.findInvitation("inv_1"))?.userId).toBe(members[0]!.userId);
      const users = await stores[0]!.accounts.listAccounts({ kind: "user", search: "user_1", limit: 10 });
      expect(users.map(({ id }) => id).sort()).toEqual(["user_1", members[0]!.userId].sort());
    });

    test("is either accepted or withdrawn if both happen at the same time", async () => {
      const [here, there] = [await createCompany(), await createStores()];
      await here.invitations.insertInvitation(invitationOf("inv_1"));
      const [accepted, isWithdrawn] = await Promise.all([
        here.invitations.acceptInvitation(acceptanceOf("inv_1")),
        there.invitations.withdrawInvitation("inv_1", 10),
      ]);
      expect(isWithdrawn).toBe(accepted === "not_open");
      const member = await there.accounts.findMember("org_1", "user_1");
      expect(member === null).toBe(isWithdrawn);
    });

    test("deletes those that ended or expired before a time, in bounded steps", async () => {
      const stores = await createCompany();
      const { invitations } = stores;
      await invitations.insertInvitation(invitationOf("inv_1", { expiresAt: 100 }));
      await invitations.insertInvitation(invitationOf("inv_2"));
      await invitations.insertInvitation(invitationOf("inv_3"));
      await invitations.insertInvitation(invitationOf("inv_4"));
      await invitations.withdrawInvitation("inv_2", 50);
      await invitations.acceptInvitation(acceptanceOf("inv_3", { at: 200 }));
      expect(await invitations.deleteEndedInvitations(200, 1)).toBe(1);
      expect(await invitations.deleteEndedInvitations(200, 10)).toBe(1);
      expect(await listIds(stores)).toEqual(["inv_4", "inv_3"]);
      expect(await invitations.deleteEndedInvitations(HOUR + 1, 10)).toBe(2);
    });
  });
}
