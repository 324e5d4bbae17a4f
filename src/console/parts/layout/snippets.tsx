import { session } from "../../state/session.ts";
import { KEY_VARIABLE, listSnippets } from "../../state/snippets.ts";
import { text } from "../../text/text.ts";
import { Code } from "../values/values.tsx";
import { Tabs } from "./tabs.tsx";

const words = text.snippets;

/** How common clients are pointed at the gateway, with a model filled in, and with a key if it is known. */
export function Snippets({ secret, model }: { secret: string | null; model: string }) {
  const baseUrl = session.value?.base_url ?? window.location.origin;
  return (
    <div class="column">
      {secret === null ? (
        <>
          <p class="quiet">{words.variable}</p>
          <Code label={words.set} value={`export ${KEY_VARIABLE}=${words.placeholder}`} />
        </>
      ) : null}
      <Tabs
        label={text.keys.clients}
        tabs={listSnippets({ baseUrl, key: secret, model }).map(({ id, title, pieces }) => ({
          id,
          title,
          content: (
            <div class="column">
              {pieces.map(({ use, code }, i) => [
                pieces.length === 1 && use === "run" ? null : (
                  <p key={`${use} about`} class="field-hint">
                    {words.uses[use]}
                  </p>
                ),
                <Code key={use} label={i === 0 ? title : `${title}: ${words.uses[use]}`} value={code} />,
              ])}
            </div>
          ),
        }))}
      />
    </div>
  );
}
