import { session } from "../../state/session.ts";
import { listSnippets } from "../../state/snippets.ts";
import { text } from "../../text/text.ts";
import { Code } from "../values/values.tsx";
import { Tabs } from "./tabs.tsx";

/** How common clients are pointed at the gateway, with a key and a model filled in. */
export function Snippets({ secret, model }: { secret: string; model: string }) {
  const baseUrl = session.value?.base_url ?? window.location.origin;
  return (
    <Tabs
      label={text.keys.clients}
      tabs={listSnippets({ baseUrl, key: secret, model }).map(({ id, title, code }) => ({
        id,
        title,
        content: <Code label={title} value={code} />,
      }))}
    />
  );
}
