import { signal } from "@preact/signals";
import { call } from "../../api/client.ts";
import type { Option } from "../filter-options.ts";
import { forgetOptions } from "../names.ts";

/** The teams of organizations that were asked for, as options. */
const lists = signal<ReadonlyMap<string, readonly Option[]>>(new Map());
const asked = new Set<string>();

/** Returns the teams of an organization that the person may see; none until they are loaded. */
export function teamsOf(organization: string): readonly Option[] {
  return lists.value.get(organization) ?? [];
}

/** Loads the teams of an organization, unless they were loaded. If that fails, the next call tries again. */
export function loadTeams(organization: string): void {
  if (asked.has(organization)) return;
  asked.add(organization);
  call("GET /api/admin/organizations/{id}/teams", { params: { id: organization } }).then(
    ({ data }) => {
      const options = data.map(({ id, name }) => ({ value: id, label: name }));
      lists.value = new Map(lists.value).set(organization, options);
    },
    () => asked.delete(organization),
  );
}

/** Loads the teams at the next call, because one was created, renamed or deleted. */
export function forgetTeams(organization: string): void {
  asked.delete(organization);
  forgetOptions("teams");
}
