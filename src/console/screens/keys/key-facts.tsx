import type { ComponentChildren } from "preact";
import type { Key } from "../../api/schema.ts";
import { formatCount, formatMoney } from "../../parts/values/format.ts";
import { printSeconds } from "../../parts/values/print-seconds.ts";
import { Time } from "../../parts/values/values.tsx";
import { findName } from "../../state/names.ts";
import { isManager, isOperator, session } from "../../state/session.ts";
import { text } from "../../text/text.ts";

const words = text.keys;
const NANODOLLARS = 1e9;

/** Who owns a key and what it may do. */
export function KeyFacts({ of: key }: { of: Key }) {
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text.manage.settings}</h2>
        <span class="grow" />
        {isManager.value ? <a href={`/console/audit?target=${key.id}`}>{text.manage.changes}</a> : null}
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

function listFacts(key: Key): readonly Fact[] {
  const common: readonly Fact[] = [
    [words.secret, <code>{key.hint}</code>],
    [words.owner, <AccountLink id={key.account_id} />],
    [words.member, key.user_id === null ? <None>{words.serviceKey}</None> : <AccountLink id={key.user_id} />],
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
  ];
}

function printLimit({ spend_limit: limit, spend_limit_period: period }: Key): ComponentChildren {
  if (limit === null) return <None>{words.noLimit}</None>;
  return `${formatMoney(limit * NANODOLLARS)} – ${words.spendLimitPeriods[period]}`;
}

function printCount(count: number | null): ComponentChildren {
  return count === null ? <None>{words.noLimit}</None> : formatCount(count);
}

function printDuration(seconds: number | null): ComponentChildren {
  return seconds === null ? <None>{words.never}</None> : printSeconds(seconds);
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

/** The name of an account or a user, with a link for those who may open its page. */
function AccountLink({ id }: { id: string }) {
  const own = session.value?.account;
  const name = findName("accounts", id) ?? findName("users", id) ?? (own?.id === id ? own.name : null) ?? id;
  return isOperator.value ? <a href={`/console/people/${id}`}>{name}</a> : <span title={id}>{name}</span>;
}
