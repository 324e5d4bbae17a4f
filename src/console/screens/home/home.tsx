import type { Me } from "../../api/schema.ts";
import { Page } from "../../parts/layout/page.tsx";
import { Snippets } from "../../parts/layout/snippets.tsx";
import { ErrorBox, Skeleton } from "../../parts/layout/states.tsx";
import { printSeconds } from "../../parts/values/print-seconds.ts";
import { Code } from "../../parts/values/values.tsx";
import { useMe } from "../../state/accounts/me.ts";
import { EXAMPLE_MODEL } from "../../state/example-model.ts";
import { session } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { RecentRequests } from "../requests/recent-requests.tsx";
import { UsagePanel, useDailyUsage } from "../usage/usage-panel.tsx";
import { OwnKeys } from "./own-keys.tsx";
import { WhatIsLeft } from "./what-is-left.tsx";

const words = text.home;

/** What a person needs who calls models and manages nothing: what is left, their keys, how to connect, and their usage. */
export default function Home() {
  const { data: me, error, reload } = useMe();
  const { account, user } = session.value ?? {};
  const of = { ...(account ? { account_id: account.id } : {}), ...(user ? { user_id: user.id } : {}) };
  const usage = useDailyUsage(of);
  return (
    <Page title={words.title}>
      {error === null ? null : <ErrorBox error={error} onRetry={reload} />}
      <div class="stack">
        {me !== null ? (
          <>
            <div class="side-by-side">
              <WhatIsLeft of={me} />
              <div class="stack">
                <Kept of={me} />
                {me.teams.length === 0 ? null : <Teams of={me} />}
              </div>
            </div>
            <OwnKeys me={me} />
          </>
        ) : error === null ? (
          <Skeleton lines={8} />
        ) : null}
        <Connect />
        <UsagePanel usage={usage} />
        <RecentRequests of={of} />
      </div>
    </Page>
  );
}

/** Whether prompts are stored, and what providers may keep. */
function Kept({ of: { prompt_log, zero_retention } }: { of: Me }) {
  const isLogged = prompt_log !== null && !zero_retention;
  return (
    <section class="card">
      <div class="card-head">
        <h2>{words.data}</h2>
      </div>
      <div class="card-body column">
        <p>{isLogged ? words.logged(printSeconds(prompt_log)) : words.notLogged}</p>
        <p>{zero_retention ? words.zeroRetention : words.noZeroRetention}</p>
        {zero_retention ? null : <p class="field-hint">{words.loggedAbout}</p>}
        <p>
          <a href="/console/responses">{text.responses.title}</a>
        </p>
      </div>
    </section>
  );
}

/** The teams of the person, each with its page. */
function Teams({ of: { teams, account } }: { of: Me }) {
  return (
    <section class="card">
      <div class="card-head">
        <h2>{words.teams}</h2>
      </div>
      <ul class="card-body column">
        {teams.map(({ id, name, is_lead }) => (
          <li key={id} class="row">
            <a href={`/console/people/${account?.id}/teams/${id}`}>{name}</a>
            <span class="quiet">{is_lead ? text.teams.lead : text.teams.member}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The base address, and the settings of the usual clients. */
function Connect() {
  const address = `${session.value?.base_url ?? window.location.origin}/api/gateway`;
  return (
    <section class="card">
      <div class="card-head">
        <h2>{words.connect}</h2>
      </div>
      <div class="card-body column">
        <p class="quiet">{words.connectAbout}</p>
        <Code label={words.connectAbout} value={address} />
        <Snippets secret={null} model={EXAMPLE_MODEL} />
      </div>
    </section>
  );
}
