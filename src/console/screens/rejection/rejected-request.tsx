import type { ComponentChildren } from "preact";
import { call } from "../../api/client.ts";
import type { Rejection } from "../../api/schema.ts";
import { Page } from "../../parts/layout/page.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { ErrorBox, Skeleton } from "../../parts/layout/states.tsx";
import { OutcomeBadge } from "../../parts/values/badge.tsx";
import { formatExactTime } from "../../parts/values/format.ts";
import { Id } from "../../parts/values/values.tsx";
import { useLoad } from "../../state/load.ts";
import { session } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { listActions } from "./list-actions.ts";

const words = text.rejection;

/** The page of a rejected request: what happened, what to do, and who sent it. */
export function RejectedRequest({ id, heading }: { id: string; heading: ComponentChildren }) {
  const { data, error, reload } = useLoad(id, (signal) =>
    call("GET /api/admin/rejections/{id}", { params: { id }, signal }),
  );
  if (data === null)
    return (
      <Page title={text.request.title} heading={heading}>
        {error === null ? <Skeleton lines={8} /> : <ErrorBox error={error} onRetry={reload} />}
      </Page>
    );
  const rejection = data.data;
  return (
    <Page
      title={titleOf(rejection)}
      heading={heading}
      actions={
        <a class="button" href={likeThis(rejection)}>
          {words.likeThis}
        </a>
      }
    >
      <div class="request">
        <div class="request-head">
          <div class="row wrap">
            <span class="request-model">{titleOf(rejection)}</span>
            <OutcomeBadge outcome="rejected" />
            <span class="bad">
              {rejection.status} {rejection.error_type}
            </span>
          </div>
          <p class="quiet">{rejection.count > 1 ? words.aboutMany(rejection.count) : words.about}</p>
        </div>
        <Happened rejection={rejection} />
        <What rejection={rejection} />
        <Who rejection={rejection} />
      </div>
    </Page>
  );
}

function titleOf({ requested_model, path, error_type }: Rejection): string {
  return requested_model ?? path ?? error_type;
}

/** The address of the list of rejected requests with the same error, of the same key, account or unknown key. */
function likeThis({ error_type, key_id, account_id }: Rejection): string {
  const query = new URLSearchParams({ outcome: "rejected", error_type, last: "7d" });
  if (key_id !== null) query.set("key_id", key_id);
  else if (account_id !== null) query.set("account_id", account_id);
  return `/console/requests?${query}`;
}

function Happened({ rejection }: { rejection: Rejection }) {
  const { message, field, limit_source, limit_kind, limit, advice } = rejection;
  const actions = session.value ? listActions(rejection, session.value) : [];
  return (
    <section class="happened" aria-label={words.happened}>
      <h2>{words.happened}</h2>
      <p class="happened-message">{message ?? <span class="quiet">{words.noMessage}</span>}</p>
      {field === null && limit_source === null ? null : (
        <dl class="facts">
          {field === null ? null : (
            <Fact name={words.field}>
              <code>{field}</code>
            </Fact>
          )}
          {limit_source === null ? null : (
            <Fact name={words.limit}>{words.limitOf(limit_source, limit_kind, limit)}</Fact>
          )}
        </dl>
      )}
      <h2>{words.toDo}</h2>
      <p>{advice}</p>
      {actions.length === 0 ? null : (
        <div class="row wrap">
          {actions.map(({ label, href }) => (
            <a key={href + label} class="button" href={href}>
              {label}
            </a>
          ))}
        </div>
      )}
    </section>
  );
}

function What({ rejection }: { rejection: Rejection }) {
  const { id, created_at, api, method, path, requested_model } = rejection;
  return (
    <Section id="what" title={words.request} summary={api ?? words.noApi}>
      <dl class="facts">
        <Fact name={words.model}>{requested_model ?? <span class="quiet">{words.unknownModel}</span>}</Fact>
        <Fact name={words.call}>
          <code>{[method, path].filter((part) => part !== null).join(" ") || "–"}</code>
        </Fact>
        <Fact name={words.api}>{api ?? <span class="quiet">{words.noApi}</span>}</Fact>
        <Fact name={words.time}>{formatExactTime(Date.parse(created_at))}</Fact>
        <Fact name={words.id}>
          <Id id={id} />
        </Fact>
      </dl>
    </Section>
  );
}

function Who({ rejection }: { rejection: Rejection }) {
  const { account_id, account_name, user_id, user_name, address_hash, user_agent } = rejection;
  return (
    <Section id="who" title={words.who} summary={rejection.key_name ?? text.requests.anonymous}>
      <dl class="facts">
        <Key rejection={rejection} />
        <Thing name={words.account} id={account_id} title={account_name} filter="account_id" />
        <Thing name={words.user} id={user_id} title={user_name} filter="user_id" />
        <Fact name={words.client}>
          {rejection.client === null ? (
            <span class="quiet">{words.noClient}</span>
          ) : (
            [rejection.client, rejection.client_version].filter((part) => part !== null).join(" ")
          )}
        </Fact>
        {user_agent === null ? null : (
          <Fact name={words.userAgent}>
            <span class="quiet">{user_agent}</span>
          </Fact>
        )}
        {address_hash === null ? null : (
          <Fact name={words.address}>
            <code class="faint">{address_hash}</code>
          </Fact>
        )}
      </dl>
    </Section>
  );
}

function Key({ rejection: { key_id, key_name, key_fingerprint } }: { rejection: Rejection }) {
  if (key_id !== null) return <Thing name={words.key} id={key_id} title={key_name} filter="key_id" />;
  if (key_fingerprint === null)
    return (
      <Fact name={words.key}>
        <span class="quiet">{words.noKey}</span>
      </Fact>
    );
  return (
    <Fact name={words.unknownKey}>
      <Id id={key_fingerprint} />
    </Fact>
  );
}

function Thing(props: { name: string; id: string | null; title: string | null; filter: string }) {
  const { id, title, filter } = props;
  return (
    <Fact name={props.name}>
      {id === null ? (
        <span class="quiet">–</span>
      ) : (
        <>
          <a href={`/console/requests?${filter}=${id}&outcome=rejected&last=7d`}>{title ?? id}</a>{" "}
          <span class="faint">
            <Id id={id} />
          </span>
        </>
      )}
    </Fact>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}
