import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { KeptResponseDetails } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { ErrorBox, Skeleton } from "../../parts/layout/states.tsx";
import { Code } from "../../parts/values/values.tsx";
import { useLoad } from "../../state/load.ts";
import { can } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { describeItem, type Item } from "./describe-item.ts";

const words = text.responses;

/** The items of a response. They are read only when asked for, because each reading is in the audit log. */
export function Contents({ of: { id } }: { of: KeptResponseDetails }) {
  const [isShown, setShown] = useState(false);
  const { data, error, reload } = useLoad(isShown ? id : null, async (signal) => {
    return (await call("GET /api/admin/responses/{id}/items", { params: { id }, signal })).data;
  });
  return (
    <Section id="contents" title={words.contents} summary={words.contentsAbout}>
      {!can("inspect") ? (
        <p class="quiet">{words.contentsClosed}</p>
      ) : isShown ? null : (
        <div class="row wrap">
          <Button onClick={() => setShown(true)}>{words.show}</Button>
          <span class="quiet">{words.audited}</span>
        </div>
      )}
      {error === null ? null : <ErrorBox error={error} onRetry={reload} />}
      {isShown && data === null && error === null ? <Skeleton lines={4} /> : null}
      {data === null ? null : (
        <>
          <Items title={words.input} items={data.input} none={words.noItems} />
          <Items title={words.output} items={data.output} none={words.noOutput} />
        </>
      )}
    </Section>
  );
}

function Items({ title, items, none }: { title: string; items: readonly Item[]; none: string }) {
  return (
    <>
      <h3>{title}</h3>
      {items.length === 0 ? <p class="quiet">{none}</p> : null}
      {items.map((item, at) => {
        const { name, body } = describeItem(item);
        return (
          <div key={at} class="kept-item">
            <span class="quiet">{name}</span>
            <Code label={name} value={body} />
          </div>
        );
      })}
    </>
  );
}
