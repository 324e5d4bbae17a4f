import { TakesTable } from "../../parts/lists/takes-table.tsx";
import type { ModelDetails } from "../../state/catalog/model-types.ts";
import { text } from "../../text/text.ts";

const words = text.takes;

/** What each endpoint of a model takes of parameters. Those that take everything have a line without a table. */
export function EndpointTakes({ endpoints }: { endpoints: ModelDetails["endpoints"] }) {
  return (
    <div class="card takes-list">
      {endpoints.map((endpoint) => (
        <EndpointRules key={`${endpoint.provider} ${endpoint.upstream_model}`} endpoint={endpoint} />
      ))}
    </div>
  );
}

function EndpointRules({ endpoint }: { endpoint: ModelDetails["endpoints"][number] }) {
  const { provider_name, upstream_model, takes } = endpoint;
  const name = (
    <>
      {provider_name} <span class="faint mono">{upstream_model}</span>
    </>
  );
  if (takes.length === 0)
    return (
      <p class="takes-none">
        {name} <span class="quiet">· {words.everything}</span>
      </p>
    );
  return (
    <details>
      <summary>
        {name} <span class="quiet">· {words.rules(takes.length)}</span>
      </summary>
      <TakesTable label={`${words.title}: ${provider_name}`} takes={takes} />
    </details>
  );
}
