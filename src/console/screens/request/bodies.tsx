import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { GenerationDetails } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { ErrorBox, Skeleton } from "../../parts/layout/states.tsx";
import { Code } from "../../parts/values/values.tsx";
import { useLoad } from "../../state/load.ts";
import { can } from "../../state/session.ts";
import { text } from "../../text/text.ts";

const words = text.request;

/** The stored bodies, if there are any. They are read only when asked for, because each reading is in the audit log. */
export function Bodies({ generation: { id, has_bodies } }: { generation: GenerationDetails }) {
  const [isShown, setShown] = useState(false);
  const { data, error, reload } = useLoad(isShown ? id : null, (signal) =>
    call("GET /api/admin/generations/{id}/bodies", { params: { id }, signal }),
  );
  const isReadable = has_bodies && can("inspect");
  return (
    <Section
      id="bodies"
      title={words.bodies}
      summary={has_bodies ? words.stored : words.notStored}
      isClosed={!has_bodies}
    >
      {!has_bodies ? <p class="quiet">{words.notStoredAbout}</p> : null}
      {isReadable && !isShown ? (
        <div class="row wrap">
          <Button onClick={() => setShown(true)}>{words.showBodies}</Button>
          <span class="quiet">{words.audited}</span>
        </div>
      ) : null}
      {error === null ? null : <ErrorBox error={error} onRetry={reload} />}
      {isShown && data === null && error === null ? <Skeleton lines={4} /> : null}
      {data === null ? null : (
        <>
          <h3>{words.requestBody}</h3>
          <Code label={words.requestBody} value={prettify(data.data.request)} />
          {data.data.request_truncated ? <p class="quiet">{words.truncated}</p> : null}
          <h3>{words.responseBody}</h3>
          <Code label={words.responseBody} value={prettify(data.data.response ?? "")} />
          {data.data.response_truncated ? <p class="quiet">{words.truncated}</p> : null}
        </>
      )}
    </Section>
  );
}

/** Indents a JSON text. Other texts, such as truncated ones, are returned unchanged. */
function prettify(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
