import { ScrollBox } from "../../parts/lists/scroll-box.tsx";
import { formatDuration, formatShare } from "../../parts/values/format.ts";
import type { ModelDetails } from "../../state/catalog/model-types.ts";
import { text } from "../../text/text.ts";
import { printTokens } from "./model-format.ts";
import { Price, StatusBadge } from "./model-values.tsx";

const words = text.models;
type Endpoint = ModelDetails["endpoints"][number];

/** The endpoints of a model with their measured health, those that can be called first. */
export function EndpointsTable({ endpoints, isFree }: { endpoints: readonly Endpoint[]; isFree: boolean }) {
  const names = Object.entries(words.endpointColumns);
  return (
    <ScrollBox kind="card" label={words.endpoints}>
      <table class="table endpoints-table">
        <thead>
          <tr>
            {names.map(([name, title]) => (
              <th
                key={name}
                class={`col-${name}${name === "provider" || name === "status" ? "" : " number"}`}
              >
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {endpoints.map((endpoint) => (
            <EndpointRow
              key={`${endpoint.provider} ${endpoint.upstream_model}`}
              endpoint={endpoint}
              isFree={isFree}
            />
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}

function EndpointRow({ endpoint, isFree }: { endpoint: Endpoint; isFree: boolean }) {
  const { uptime, latency_ms, throughput, prices } = endpoint;
  const row = prices.find(({ is_current, min_prompt_tokens }) => is_current && min_prompt_tokens === 0);
  return (
    <tr>
      <td title={`${endpoint.provider_name}: ${endpoint.upstream_model}`}>
        {endpoint.provider_name} <span class="faint mono">{endpoint.upstream_model}</span>
      </td>
      <td>
        <StatusBadge state={endpoint.is_configured ? endpoint.status : "no_key"} />
      </td>
      <td class="number">{uptime === null ? "–" : formatShare(uptime)}</td>
      <td class="number">{formatDuration(latency_ms?.p50 ?? null)}</td>
      <td class="number">{formatDuration(latency_ms?.p99 ?? null)}</td>
      <td class="number">{throughput === null ? "–" : throughput.p50.toFixed(1)}</td>
      <td class="number">{printTokens(endpoint.context_length)}</td>
      <td class="number">
        <Price value={row?.pricing.prompt} isFree={isFree} />
      </td>
      <td class="number">
        <Price value={row?.pricing.completion} isFree={isFree} />
      </td>
      <td class="number">{endpoint.requests}</td>
    </tr>
  );
}
