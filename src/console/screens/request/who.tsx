import type { ComponentChildren } from "preact";
import type { GenerationDetails } from "../../api/schema.ts";
import { Section } from "../../parts/layout/section.tsx";
import { formatExactTime } from "../../parts/values/format.ts";
import { Id } from "../../parts/values/values.tsx";
import { text } from "../../text/text.ts";

const words = text.request;

/** Who sent the request, and its ids. */
export function Who({ generation }: { generation: GenerationDetails }) {
  const { key, account, user, team, session_id, tags, created_at, id, request_id } = generation;
  const { client, client_version } = generation;
  return (
    <Section id="who" title={words.who} summary={key?.name ?? text.requests.anonymous}>
      <dl class="facts">
        <Fact name={words.key} thing={key} filter="key_id" none={text.requests.anonymous} />
        <Fact name={words.account} thing={account} filter="account_id" none="–" />
        <Fact name={words.user} thing={user} filter="user_id" none={words.serviceKey} />
        {team === null ? null : <Fact name={words.team} thing={team} filter="team_id" none="–" />}
        <dt>{words.client}</dt>
        <dd>
          {client === null ? (
            <span class="quiet">{words.noClient}</span>
          ) : (
            <>
              <a href={`/console/requests?client=${client}&last=30d`} title={words.requestsOf}>
                {client}
              </a>
              {client_version === null ? "" : ` ${client_version}`}
            </>
          )}
        </dd>
        <dt>{words.session}</dt>
        <dd>
          {session_id === null ? (
            <span class="quiet">{words.noSession}</span>
          ) : (
            <>
              <a href={`/console/requests?session_id=${session_id}&last=30d`}>{words.requestsOf}</a>{" "}
              <span class="faint">
                <Id id={session_id} />
              </span>
            </>
          )}
        </dd>
        <dt>{words.tags}</dt>
        <dd>{tags.length === 0 ? <span class="quiet">{words.noTags}</span> : <Tags tags={tags} />}</dd>
        <dt>{words.time}</dt>
        <dd>{formatExactTime(Date.parse(created_at))}</dd>
        <dt>{words.generation}</dt>
        <dd>
          <Id id={id} />
        </dd>
        {generation.has_response ? (
          <>
            <dt>{words.response}</dt>
            <dd>
              <a href={`/console/responses/${id}`}>{words.openResponse}</a>
            </dd>
          </>
        ) : null}
        <dt>{words.requestId}</dt>
        <dd>
          <Id id={request_id} />
        </dd>
      </dl>
    </Section>
  );
}

/** Tags, each with a link to its requests. */
function Tags({ tags }: { tags: readonly string[] }) {
  return (
    <span class="row wrap">
      {tags.map((tag) => (
        <a
          key={tag}
          href={`/console/requests?${new URLSearchParams({ tag, last: "30d" })}`}
          title={words.requestsOf}
        >
          {tag}
        </a>
      ))}
    </span>
  );
}

function Fact(props: {
  name: string;
  thing: { readonly id: string; readonly name: string | null } | null;
  filter: string;
  none: ComponentChildren;
}) {
  const { thing } = props;
  return (
    <>
      <dt>{props.name}</dt>
      <dd>
        {thing === null ? (
          <span class="quiet">{props.none}</span>
        ) : (
          <>
            <a href={`/console/requests?${props.filter}=${thing.id}`} title={words.requestsOf}>
              {thing.name ?? thing.id}
            </a>{" "}
            <span class="faint">
              <Id id={thing.id} />
            </span>
          </>
        )}
      </dd>
    </>
  );
}
