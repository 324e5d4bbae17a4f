import type { ComponentChildren } from "preact";
import { formatCount, formatMoney } from "../../parts/values/format.ts";
import { printSeconds } from "../../parts/values/print-seconds.ts";
import { Time } from "../../parts/values/values.tsx";
import { can } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import type { KeyDetails } from "./key-details.ts";

const words = text.keys;
const NANODOLLARS = 1e9;

/** Who owns a key and what it may do. */
export function KeyFacts({ of: key }: { of: KeyDetails }) {
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text.manage.settings}</h2>
        <span class="grow" />
        {can("inspect") ? <a href={`/console/audit?target=${key.id}`}>{text.manage.changes}</a> : null}
      </div>
      <dl class="card-body facts">
        {listFacts(key).map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}

type Fact = readonly [name: string, value: ComponentChildren];

function listFacts(key: KeyDetails): readonly Fact[] {
  const common: readonly Fact[] = [
    [words.secret, <code>{key.hint}</code>],
    [words.owner, <Owner of={key} />],
    [words.member, <Member of={key} />],
    ...(key.account_id.startsWith("org_") ? ([[words.team, <Team of={key} />]] as const) : []),
    [words.rotatedAt, <Time at={key.rotated_at ?? key.created_at} />],
    [words.ends, key.expires_at === null ? <None>{words.never}</None> : <Time at={key.expires_at} />],
  ];
  if (key.kind === "management") return common;
  const { rate_limit: rate } = key;
  return [
    ...common,
    [words.models, key.models === null ? <None>{words.allModels}</None> : <Models ids={key.models} />],
    [words.limit, printLimit(key)],
    [words.requestsPerMinute, printCount(rate.requests_per_minute)],
    [words.tokensPerMinute, printCount(rate.tokens_per_minute)],
    [words.concurrent, printCount(rate.concurrent)],
    [words.promptLog, printDuration(key.prompt_log)],
    [words.cache, printDuration(key.cache)],
    [words.tags, key.tags === null ? <None>{words.noTags}</None> : key.tags.join(", ")],
  ];
}

function printLimit({ spend_limit: limit, spend_limit_period: period }: KeyDetails): ComponentChildren {
  if (limit === null) return <None>{words.noLimit}</None>;
  return `${formatMoney(limit * NANODOLLARS)} – ${words.spendLimitPeriods[period]}`;
}

function printCount(count: number | null): ComponentChildren {
  return count === null ? <None>{words.noLimit}</None> : formatCount(count);
}

function printDuration(seconds: number | null): ComponentChildren {
  if (seconds === null) return <None>{words.byDefault}</None>;
  return seconds === 0 ? <None>{words.never}</None> : printSeconds(seconds);
}

function None({ children }: { children: string }) {
  return <span class="faint">{children}</span>;
}

function Models({ ids }: { ids: readonly string[] }) {
  return (
    <ul class="column">
      {ids.map((id) => (
        <li key={id}>
          <code>{id}</code>
        </li>
      ))}
    </ul>
  );
}

/** The account, with a link for those who may open its page. */
function Owner({ of: { account_id: id, account_name: name } }: { of: KeyDetails }) {
  return can("read") ? (
    <a href={`/console/people/${id}`}>{name ?? id}</a>
  ) : (
    <span title={id}>{name ?? id}</span>
  );
}

/** The person, with a link to their page in the organization. */
function Member({ of: { account_id, user_id: id, user_name: name } }: { of: KeyDetails }) {
  if (id === null) return <None>{words.serviceKey}</None>;
  return can("read") && account_id.startsWith("org_") ? (
    <a href={`/console/people/${account_id}/members/${id}`}>{name ?? id}</a>
  ) : (
    <span title={id}>{name ?? id}</span>
  );
}

function Team({ of: { account_id, team_id: id, team_name: name } }: { of: KeyDetails }) {
  if (id === null) return <None>{words.noTeam}</None>;
  return <a href={`/console/people/${account_id}/teams/${id}`}>{name ?? id}</a>;
}
