import type { ComponentChildren } from "preact";
import type { KeptResponseDetails } from "../../api/schema.ts";
import { Section } from "../../parts/layout/section.tsx";
import { formatExactTime, formatMinute } from "../../parts/values/format.ts";
import { Id } from "../../parts/values/values.tsx";
import { can } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { pathOfResponse } from "./response-list.tsx";

const words = text.responses;

/** Who keeps a response, when it was made and is deleted, and its conversation. */
export function ResponseFacts({ of }: { of: KeptResponseDetails }) {
  const { account_id, account_name, user_id, user_name, key_id, key_name, team_id, team_name } = of;
  const { conversation, generation, created_at, ended_at, expires_at, id } = of;
  const accountPage = can("read") ? `/console/people/${account_id}?tab=responses` : null;
  return (
    <Section id="facts" title={words.facts} summary={user_name ?? key_name ?? words.serviceKey}>
      <dl class="facts">
        <Fact name={words.key} id={key_id} label={key_name} address={`/console/keys/${key_id}`} />
        <Fact name={words.account} id={account_id} label={account_name} address={accountPage} />
        <Fact name={words.user} id={user_id} label={user_name} address={null} />
        {team_id === null ? null : (
          <Fact
            name={words.team}
            id={team_id}
            label={team_name}
            address={`/console/people/${account_id}/teams/${team_id}`}
          />
        )}
        {conversation === null ? null : (
          <Fact
            name={words.conversation}
            id={conversation.id}
            label={words.openConversation}
            address={pathOfResponse(conversation.id)}
          />
        )}
        {conversation === null ? null : <Metadata of={conversation.metadata ?? {}} />}
        {generation === null ? null : <Line name={words.provider}>{generation.provider_name ?? "–"}</Line>}
        <Line name={words.created}>{formatExactTime(Date.parse(created_at))}</Line>
        {ended_at === null ? null : <Line name={words.ended}>{formatExactTime(Date.parse(ended_at))}</Line>}
        <Line name={words.expiresAt}>
          {formatMinute(Date.parse(expires_at))}, <span class="quiet">{words.unlessUsed}</span>
        </Line>
        <Line name={words.id}>
          <Id id={id} />
        </Line>
      </dl>
    </Section>
  );
}

/** The key-value pairs that the client gave the conversation. */
function Metadata({ of }: { of: Readonly<Record<string, string>> }) {
  const pairs = Object.entries(of);
  if (pairs.length === 0) return null;
  return <Line name={words.metadata}>{pairs.map(([name, value]) => `${name}: ${value}`).join(", ")}</Line>;
}

function Line({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Fact(props: { name: string; id: string | null; label: string | null; address: string | null }) {
  const { name, id, label, address } = props;
  if (id === null)
    return (
      <Line name={name}>
        <span class="quiet">{words.serviceKey}</span>
      </Line>
    );
  return (
    <Line name={name}>
      <span class="row wrap">
        {address === null ? <span>{label ?? id}</span> : <a href={address}>{label ?? id}</a>}
        <span class="faint">
          <Id id={id} />
        </span>
      </span>
    </Line>
  );
}
