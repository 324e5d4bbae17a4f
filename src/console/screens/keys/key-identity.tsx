import { call } from "../../api/client.ts";
import { Combobox } from "../../parts/controls/combobox.tsx";
import { Select } from "../../parts/controls/field.tsx";
import type { KeyInput } from "../../state/accounts/key-input.ts";
import type { Option } from "../../state/filter-options.ts";
import { useLoad } from "../../state/load.ts";
import { loadOptions, optionsOf } from "../../state/names.ts";
import { type Person, usePeople, useTeamOptions } from "../../state/options/account-options.ts";
import { can, isOperator, isSelf, leads, session } from "../../state/session.ts";
import { text } from "../../text/text.ts";

const words = text.keys;

/** The value of the choice that stands for no person. */
const SERVICE = "service";

/** Whose a new key is by default: null where it is to be chosen. */
export interface KeyOwner {
  readonly account: string | null;
  readonly user?: string | undefined;
  readonly team?: string | undefined;
}

interface IdentityProps {
  readonly input: KeyInput;
  readonly owner: KeyOwner;
  readonly onChange: (input: KeyInput) => void;
  readonly errorOf: (field: keyof KeyInput) => string | null;
}

/** What a new key is: its kind, the account that pays, the person and the team. They cannot be changed later. */
export function KeyIdentity({ input, owner, onChange, errorOf }: IdentityProps) {
  const isForAny = isOperator.value && owner.account === null;
  const account = input.accountId ?? session.value?.account?.id ?? null;
  const isOrganization = account?.startsWith("org_") === true;
  return (
    <>
      {can("manage_keys") ? (
        <Select
          label={words.kind}
          hint={words.kindHints[input.kind]}
          value={input.kind}
          choices={Object.entries(words.kinds).map(([value, label]) => ({ value, label }))}
          onChange={(kind) => onChange(ofKind(input, kind as KeyInput["kind"]))}
        />
      ) : null}
      {isForAny ? (
        <Combobox
          label={words.owner}
          hint={words.ownerHint}
          error={errorOf("accountId")}
          value={input.accountId}
          options={optionsOf("accounts")}
          onOpen={() => loadOptions("accounts")}
          onChange={(accountId) => onChange({ ...input, accountId, userId: null, teamId: null })}
        />
      ) : null}
      {isOrganization ? (
        <PersonAndTeam
          account={account}
          input={input}
          hasTeam={owner.team !== undefined}
          onChange={onChange}
          errorOf={errorOf}
        />
      ) : null}
    </>
  );
}

/** A management key has no team. Only those with the right over owners make one for others. */
function ofKind(input: KeyInput, kind: KeyInput["kind"]): KeyInput {
  if (kind === "inference") return { ...input, kind };
  const userId = can("manage_owners") ? input.userId : (session.value?.user?.id ?? null);
  return { ...input, kind, teamId: null, userId };
}

function PersonAndTeam(props: {
  account: string;
  input: KeyInput;
  /** Whether the key is made for a team, which is not chosen here. */
  hasTeam: boolean;
  onChange: (input: KeyInput) => void;
  errorOf: (field: keyof KeyInput) => string | null;
}) {
  const { account, input, hasTeam, onChange, errorOf } = props;
  const people = useChoices(account, input.teamId);
  const teams = useTeams(account, people, input.userId);
  const chosen = people.find(({ id }) => id === input.userId);
  const choosePerson = (id: string | null) => {
    const userId = id === SERVICE ? null : id;
    const isKept = hasTeam || userId === null || isIn(people, userId, input.teamId);
    onChange({ ...input, userId, teamId: isKept ? input.teamId : null });
  };
  const picksPerson = can("manage_keys")
    ? input.kind === "inference" || can("manage_owners")
    : leads(input.teamId);
  return (
    <>
      {picksPerson ? (
        <Combobox
          label={words.person}
          hint={words.personHints[input.userId === null ? "service" : "person"]}
          error={errorOf("userId")}
          value={input.userId ?? SERVICE}
          valueLabel={nameOf(input.userId, chosen)}
          options={[SERVICE_OPTION, ...people.map(toOption)]}
          onChange={choosePerson}
        />
      ) : null}
      {input.kind === "inference" && !hasTeam && teams.length > 0 ? (
        <Select
          label={words.team}
          hint={words.teamHint}
          error={errorOf("teamId")}
          value={input.teamId ?? ""}
          choices={[
            { value: "", label: words.noTeam },
            ...teams.map(({ value, label }) => ({ value, label })),
          ]}
          onChange={(id) => onChange(ofTeam(input, id))}
        />
      ) : null}
    </>
  );
}

/** Outside of the teams that they lead, people without the right to manage keys make keys for themselves only. */
function ofTeam(input: KeyInput, id: string): KeyInput {
  const teamId = id === "" ? null : id;
  const isOwn = !can("manage_keys") && !leads(teamId);
  return { ...input, teamId, userId: isOwn ? (session.value?.user?.id ?? null) : input.userId };
}

/** Returns what the field shows. The name of someone else may still be loaded. */
function nameOf(userId: string | null, chosen: Person | undefined): string {
  if (userId === null) return words.service;
  return chosen?.name ?? (isSelf(userId) ? session.value?.user?.name : null) ?? "…";
}

const SERVICE_OPTION: Option = { value: SERVICE, label: words.service, detail: words.serviceDetail };

function toOption({ id, name }: Person): Option {
  return { value: id, label: name, detail: id === session.value?.user?.id ? words.self : id.slice(-6) };
}

/** Returns the people to choose from: the members of the organization, or for a lead those of the team. */
function useChoices(account: string, teamId: string | null): readonly Person[] {
  const members = usePeople(account);
  const isLead = !can("read") && leads(teamId);
  const ofTeam = useLoad(isLead ? `${account} ${teamId}` : null, (signal) =>
    call("GET /api/admin/organizations/{id}/teams/{team_id}/members", {
      params: { id: account, team_id: teamId ?? "" },
      query: { limit: 100 },
      signal,
    }),
  );
  if (!isLead) return members ?? [];
  return (ofTeam.data?.data ?? []).map(({ user_id, user_name }) => ({
    ...{ id: user_id, name: user_name ?? user_id, teams: [] },
  }));
}

/** Returns the teams that a key may belong to: those of its person, for a service key all. */
function useTeams(account: string, people: readonly Person[], userId: string | null): readonly Option[] {
  const all = useTeamOptions(account);
  // Without the right to read, the API lists one's own teams only.
  if (userId === null || !can("read")) return all;
  return all.filter(({ value }) => isIn(people, userId, value));
}

function isIn(people: readonly Person[], userId: string, teamId: string | null): boolean {
  return people.some(({ id, teams }) => id === userId && teams.some((team) => team.id === teamId));
}
