import { call } from "../../api/client.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Page } from "../../parts/page.tsx";
import { ErrorBox, Skeleton } from "../../parts/states.tsx";
import { useLoad } from "../../state/load.ts";
import { query, setQuery } from "../../state/location.ts";
import { isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { Explain } from "./explain.tsx";
import { TierEditor } from "./tier-editor.tsx";
import { printSource, type Tier } from "./tier-form.ts";

const NEW = "new";

/** Tiers with their editor for the operator; for others the explanation of a request. */
export default function Routing() {
  const isForAll = isOperator.value;
  const { data, error, reload } = useLoad(isForAll ? "tiers" : null, async (signal) => {
    return (await call("GET /api/admin/tiers", { signal })).data;
  });
  const chosen = query.value["tier"] ?? null;
  if (!isForAll)
    return (
      <Page title={text.routing.title}>
        <Explain tier={null} />
      </Page>
    );
  const tier = data?.find(({ id }) => id === chosen) ?? null;
  return (
    <Page
      title={text.routing.title}
      actions={
        <Button kind="primary" icon="plus" onClick={() => setQuery({ tier: NEW })}>
          {text.routing.newTier}
        </Button>
      }
    >
      {error === null ? null : <ErrorBox error={error} onRetry={reload} />}
      {data !== null ? (
        <div class="routing">
          <TierList tiers={data} chosen={chosen} />
          <div class="routing-main">
            {tier !== null || chosen === NEW ? (
              <TierEditor
                key={chosen}
                tier={tier}
                onChanged={(id) => {
                  setQuery({ tier: id });
                  reload();
                }}
              />
            ) : (
              <Explain tier={null} />
            )}
          </div>
        </div>
      ) : error === null ? (
        <Skeleton lines={8} />
      ) : null}
    </Page>
  );
}

function TierList({ tiers, chosen }: { tiers: readonly Tier[]; chosen: string | null }) {
  return (
    <nav class="card tier-nav" aria-label={text.routing.tiers}>
      {tiers.map((tier) => (
        <a
          key={tier.id}
          class="tier-item"
          href={`/console/routing?tier=${encodeURIComponent(tier.id)}`}
          aria-current={tier.id === chosen ? "true" : undefined}
        >
          <span class="row">
            <span class="cut strong-name grow" title={tier.id}>
              {tier.id}
            </span>
            <Badge tone={tier.source === "catalog" ? "plain" : "accent"}>
              {printSource(tier) ?? text.routing.sources[tier.source]}
            </Badge>
          </span>
          <span class="cut quiet" title={tier.name}>
            {tier.name} · {text.routing.by[tier.rule.by]}
          </span>
        </a>
      ))}
    </nav>
  );
}
