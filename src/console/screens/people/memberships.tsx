import type { Member } from "../../api/schema.ts";
import { Id } from "../../parts/values/values.tsx";
import { accounts, loadAccounts } from "../../state/accounts/accounts.ts";
import { isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";

/** The organizations that a user is a member of. */
export function Memberships({ memberships }: { memberships: readonly Member[] }) {
  if (isOperator.value) loadAccounts();
  const names = new Map(accounts.value.map(({ id, name }) => [id, name]));
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text.people.memberships}</h2>
      </div>
      <div class="card-body">
        {memberships.length === 0 ? <p class="quiet">{text.people.noMemberships}</p> : null}
        <ul class="column">
          {memberships.map(({ organization_id: id, user_id: user, role }) => (
            <li key={id} class="row">
              {names.has(id) ? (
                <a href={`/console/people/${id}`} title={id}>
                  {names.get(id)}
                </a>
              ) : (
                <Id id={id} />
              )}
              <a class="quiet" href={`/console/people/${id}/members/${user}`}>
                {text.roles[role]}
              </a>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
