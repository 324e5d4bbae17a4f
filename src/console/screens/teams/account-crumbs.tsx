import type { Crumb } from "../../parts/layout/crumbs.tsx";
import { NameSkeleton } from "../../parts/layout/states.tsx";
import { loadAccountName } from "../../state/accounts/accounts.ts";
import { useLoad } from "../../state/load.ts";
import { can, isOperator, session } from "../../state/session.ts";
import { text } from "../../text/text.ts";

/** Returns the pages above those of a part of an organization, as far as the person may see them: People, and the organization. */
export function useAccountCrumbs(id: string): readonly Crumb[] {
  const own = session.value?.account;
  const known = own?.id === id ? own.name : null;
  const { data, error } = useLoad(known === null && can("read") ? id : null, (signal) =>
    loadAccountName(id, signal),
  );
  if (!can("read")) return [{ title: text.home.title, address: "/console/home" }];
  const name = known ?? data ?? (error === null ? <NameSkeleton /> : id);
  return [
    ...(isOperator.value ? [{ title: text.people.title, address: "/console/people" }] : []),
    { title: name, address: `/console/people/${id}` },
  ];
}
